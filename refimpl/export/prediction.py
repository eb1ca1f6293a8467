"""What a network predicts, as ``refimpl.symbol.prediction`` finds it, for the files of this folder."""

from ..symbol.prediction import Prediction, ended, prediction

__all__ = ["Prediction", "ended", "prediction"]
