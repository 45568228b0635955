"""The proxy: model servers behind mended tool calls, stages and tools, in the APIs of clients."""
