"""The client of model servers that speak the OpenAI chat protocol."""
