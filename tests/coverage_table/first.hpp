inline int first() {
    return 1;
}
