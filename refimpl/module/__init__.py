"""Modules: a symbol, its parameters, its executors and its optimizer behind one interface."""

from .base_module import BaseModule
from .module import Module

__all__ = ["BaseModule", "Module"]
