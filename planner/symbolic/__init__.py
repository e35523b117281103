"""Planning by PDDL: a goal and the operators are written as text, Fast Downward plans, the operators check the plan."""
