"""The notebook side: magics, the bridge to the main thread, the views and the transcript."""
