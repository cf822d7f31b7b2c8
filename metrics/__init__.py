"""What the numbers mean, as pure functions of questions, answers and traces."""
