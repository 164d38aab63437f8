"""Interiors of bodies: shapes, surfaces and height maps from files, distances, volumes."""
