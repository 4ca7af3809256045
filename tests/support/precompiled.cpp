// The source of the targets that own the precompiled headers. It is empty.
