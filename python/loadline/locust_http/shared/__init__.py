"""The parts that both clients have."""
