def table(lines, cells):
    return ""
