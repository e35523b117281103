"""SayPlan and SayPlan Lite."""
