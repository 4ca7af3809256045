template <class T>
int pick(T value) {
    if constexpr (sizeof(T) == 4) return 1;
    if (value > 0 && value < 10) return 2;
    return 3;
}

inline int never() {
    return 4;
}
