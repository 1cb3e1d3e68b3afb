"""What models rated, set right by what people rated of a part of it: prediction-powered."""
