"""Courses of therapy, manuals and exercises: policies with files of their own."""
