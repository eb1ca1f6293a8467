"""Clusters of real processes and machines: messages as bytes, logs of servers, sockets and launching."""
