# says: in defaults \{
timeout = 30
