"""What a training leaves behind, for other programs: a PEFT adapter read (`peft_folder`), its base
model's shape (`bases`), and both written for llama.cpp (`llama_cpp`). Without torch.
"""
