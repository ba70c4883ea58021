"""How much a file may ask for: limits on what is unpacked and laid out in memory, in one place.

A file of a few kilobytes can claim or unpack to more than any memory holds. Each limit is generous for data and is read
when a file is; who reads files of strangers sets them lower, in a process of its own with limits on memory and time.
"""

MOST_BYTES = 4 * 2**30
"""Of a packed file (.gz, R's files) when unpacked."""
MOST_WORKBOOK_BYTES = 2**31
"""Of a spreadsheet when unpacked."""
MOST_CELLS = 2_000_000_000
"""Of a matrix that is made dense, about 16 GB; also of what files of other formats declare."""
MOST_SHEET_CELLS = 100_000_000
"""Of the rectangle around all cells of a sheet, which is filled when it is read."""
MOST_COLUMNS = 2_000_000
"""In a line of text."""
LONGEST_NUMBER = 400
"""Characters of a text that may be a number; the time to match a text may grow as the square of its length."""
LONGEST_NAME = 200
"""Characters of a name that may follow a pattern, such as those of genes or runs."""
