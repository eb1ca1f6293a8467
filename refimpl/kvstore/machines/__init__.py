"""What a cluster of real machines needs: messages as bytes, and logs of servers."""
