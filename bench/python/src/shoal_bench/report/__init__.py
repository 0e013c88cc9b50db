# SPDX-License-Identifier: BSD-3-Clause
"""The report of `shoal bench`: from results.json to tables, pictures and one page of HTML.

results.py   reads the file; a Run is one of its objects
compare.py   which runs are compared with each other: medians, spreads, winners
advice.py    what all that means in words, and what to set on this machine
gaps.py      what is missing, unverified or interrupted
tables.py    tables, shown alike on the terminal and in HTML
published.py the values of the publications
drawing.py   colours, labels and axes that all pictures share
figures/     one file for each experiment: its question and its pictures
page.py      the page of HTML
command.py   the command
"""
