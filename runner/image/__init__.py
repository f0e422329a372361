"""The published environment: how the image of the disposable machine is made, shown and compared."""
