"""Networks for other frameworks: what a network predicts, and modules that write it in another framework's form."""
