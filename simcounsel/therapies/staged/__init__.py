"""A counselor led through a manual's states: each has its own agent, all share one memory, verdicts
let it move on.

After Elahimanesh et al. 2025, "Structure Matters", section 3 and appendix A; manual, prompts,
patterns and exercises are simcounsel's own.
"""
