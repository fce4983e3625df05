"""What the key-value store should do, and a check of its index."""

import errno
import json


class Model:
    def __init__(self):
        self.items = {}

    def apply(self, operation, args):
        if operation == "put":
            self.items[args[0]] = args[1]
        elif args[0] in self.items:
            del self.items[args[0]]
        else:
            raise OSError(errno.ENOENT, args[0])

    def view(self):
        return dict(self.items)


def problems(image, block_size):
    blocks = list(json.loads(image[4 * block_size : 5 * block_size]).values())
    return [f"block {b} has two keys" for b in set(blocks) if blocks.count(b) > 1]
