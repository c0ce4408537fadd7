"""What some two hundred calls of the public face answer, number by number and word by word."""
