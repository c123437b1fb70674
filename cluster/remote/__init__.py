"""Ranks on other hosts: met, looked at and ended over one kept ssh connection each."""
