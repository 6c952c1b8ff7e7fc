"""Strategies and driving on landscapes."""
