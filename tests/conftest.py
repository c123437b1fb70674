"""What every test takes for granted of the process that it runs in."""

import signal

# A shell starts what runs in its background deaf to Ctrl-C, and whoever we start would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
