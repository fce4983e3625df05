"""State machines: the language, its intermediate representation and its plain-Python meaning."""
