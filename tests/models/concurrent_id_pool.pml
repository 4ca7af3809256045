/* concurrent_id_pool for the model checker Spin: every interleaving of a few threads on a few keys.
 *
 * The model covers `create`, `destroy` and the emptiness check of src/muster/id/concurrent_id_pool.hpp. Each
 * access to shared memory is a separate step in sequential order; the thread sanitizer checks memory order.
 * Each process creates and destroys ids, its own or an id that another process holds, so that several
 * processes destroy the same id.
 *
 * Assertions:
 *   - one process at a time owns a key: no key is taken from a stack, or as a fresh key, while it is alive or
 *     being pushed
 *   - if several processes destroy an id, one succeeds; no id is issued twice (unless versions recur)
 *   - `create` fails only if there was a moment in which every key was owned or retired
 *   - at the end each key is alive, retired, fresh, or in one stack once: none is lost, and the notes, which
 *     `size` adds up, are correct
 *
 * To prove that the assertions can fail, each of these variants omits one step, and Spin finds an error:
 *   -DNO_VERSION_IN_HEAD   the head stores only the key: ABA
 *   -DNO_CLAIM             destroy reads and then writes, in two steps
 *   -DNO_SECOND_LOOK       stacks that were each found empty once count as all empty
 *   -DWRAP -DNO_ROUNDS     versions recur, and the tag stores only the version: ABA
 *
 * Options: -DWRAP lets versions recur. PROCESSES, KEYS, STACKS, TURNS (ids that each process creates), LAST_TURNS
 * (ids of the last process) and VERSIONS (per key, before it retires or starts over) set the size. -DALL_WAIT starts
 * with all keys in stacks. -DONLY_OWN lets each process destroy only its own ids: fewer states, for more processes.
 *
 *     spin -a -DTURNS=2 concurrent_id_pool.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
 */
#ifndef PROCESSES
#define PROCESSES 2
#endif
#ifndef KEYS
#define KEYS 2
#endif
#ifndef STACKS
#define STACKS 1
#endif
#ifndef TURNS
#define TURNS 3
#endif
#ifndef LAST_TURNS
#define LAST_TURNS TURNS
#endif
#ifndef VERSIONS
#define VERSIONS 3
#endif

/* A word is a kind, a key and a tag. Live words store their own key. The tag counts the uses of a key: its version
 * is the tag, modulo VERSIONS where versions recur. */
#define LIVE  0
#define LINK  1
#define END   2  /* the end of a stack, or owned by one thread; as a head: empty */
#define WORD(kind, key, tag)  ((kind) + 4 * ((key) + 8 * (tag)))
#define KIND(word)            ((word) & 3)
#define KEY(word)             (((word) >> 2) & 7)
#define TAG(word)             ((word) >> 5)

#ifdef WRAP
#define VERSION(tag)  ((tag) % VERSIONS)
#else
#define VERSION(tag)  (tag)
#endif
#ifdef NO_ROUNDS
#define NEXT(tag)  (((tag) + 1) % VERSIONS)
#else
#define NEXT(tag)  ((tag) + 1)
#endif

#if defined(WRAP) && !defined(NO_ROUNDS)
#define ROUNDS
#define USES(e)  NEXT(note[KEY(e)])  /* the note of a live key is its tag */
#else
#define USES(e)  NEXT(TAG(e))
#endif

short head[STACKS];
short word[KEYS];
byte note[KEYS];
byte fresh = 0;
byte retired = 0;

/* State for the assertions only. */
bool in_hands[KEYS];  /* alive, or being pushed or popped: not in a stack, not fresh */
bool put_away[KEYS];
short issued[KEYS];   /* a bit for each version */
byte free_keys = KEYS;
byte none_was_free = 0;  /* a bit for each process: whether this held since its `create` began */
byte finished = 0;

/* The last id of each process, which other processes may destroy. */
short shown[PROCESSES];

/* Replaces x by `to` if it is `from`. Sets `done` to whether it was. */
#define CAS(x, from, to)  done = (x == from); if :: done -> x = to :: else fi

#ifdef NO_VERSION_IN_HEAD
#define SAME_HEAD(now, seen)  (KIND(now) == KIND(seen) && KEY(now) == KEY(seen))
#else
#define SAME_HEAD(now, seen)  ((now) == (seen))
#endif

inline own(key) {
    assert(!in_hands[key]);
    in_hands[key] = true;
    free_keys--;
    if
    :: free_keys == 0 -> none_was_free = 255  /* for all processes in `create` */
    :: else
    fi
}

inline issue(e) {
#ifndef WRAP
    assert((issued[KEY(e)] & (1 << TAG(e))) == 0);
    issued[KEY(e)] = issued[KEY(e)] | (1 << TAG(e))
#else
    skip
#endif
}

/* Sets `made` to the id, or to -1 if no key is left. */
inline create(home) {
    atomic {
        made = -1;
        none_was_free = (free_keys == 0 -> none_was_free | (1 << me) : none_was_free & ~(1 << me))
    };
    do
    :: made == -1 ->
        /* Pops from the stacks, from its own stack first. */
        at = 0;
        do
        :: at < STACKS && made == -1 ->
            top = head[(home + at) % STACKS];
            do
            :: KIND(top) != END ->
                below = word[KEY(top)];
                atomic {
                    if
                    :: SAME_HEAD(head[(home + at) % STACKS], top) ->
                        top = head[(home + at) % STACKS];
                        own(KEY(top));
                        /* An empty head stores the key that was popped last. */
                        head[(home + at) % STACKS] = (KIND(below) == END -> WORD(END, KEY(top), TAG(top)) : below);
                        made = WORD(LIVE, KEY(top), VERSION(TAG(top)));
                        break
                    :: else -> top = head[(home + at) % STACKS]
                    fi
                }
            :: else -> break
            od;
            at++
        :: else -> break
        od;
        if
        :: made != -1 ->
#ifdef ROUNDS
            note[KEY(made)] = TAG(top);
#endif
            atomic { issue(made); word[KEY(made)] = made };
            break
        :: else
        fi;
        /* Takes a key that was never used. */
        below = fresh;
        do
        :: below < KEYS ->
            atomic {
                CAS(fresh, below, below + 1);
                if
                :: done -> own(below); made = WORD(LIVE, below, 0); break
                :: else -> below = fresh
                fi
            }
        :: else -> break
        od;
        if
        :: made != -1 ->
            atomic { issue(made); word[KEY(made)] = made };
            break
        :: else
        fi;
        /* No key is left if all stacks were empty at one moment. */
        atomic { at = 0; was_empty = true };
        do
        :: at < STACKS ->
            atomic { seen[at] = head[at]; if :: KIND(seen[at]) != END -> was_empty = false :: else fi };
            at++
        :: else -> break
        od;
#ifndef NO_SECOND_LOOK
        at = 0;
        do
        :: at < STACKS && was_empty ->
            atomic { if :: head[at] != seen[at] -> was_empty = false :: else fi };
            at++
        :: else -> break
        od;
#endif
        if
        :: was_empty -> assert((none_was_free & (1 << me)) != 0); break
        :: else
        fi
    od
}

/* Sets `done` to whether the id was alive. */
inline destroy(e, home) {
#ifdef NO_CLAIM
    done = (word[KEY(e)] == e);
    if :: done -> word[KEY(e)] = WORD(END, KEY(e), 0) :: else fi;
#else
    atomic { CAS(word[KEY(e)], e, WORD(END, KEY(e), 0)) };
#endif
    if
    :: done ->
        assert(in_hands[KEY(e)]);
        tag = USES(e);
#ifndef WRAP
        if
        :: tag == VERSIONS ->
            atomic { put_away[KEY(e)] = true; retired++; in_hands[KEY(e)] = false; is_spent = true }
        :: else -> is_spent = false
        fi;
#else
        is_spent = false;
#endif
        if
        :: !is_spent ->
            top = head[home];
            do
            :: if
               :: KIND(top) == END -> note[KEY(e)] = 0
               :: else -> below = note[KEY(top)]; note[KEY(e)] = below + 1
               fi;
               word[KEY(e)] = (KIND(top) == END -> WORD(END, KEY(e), 0) : top);
               atomic {
                   if
                   :: SAME_HEAD(head[home], top) ->
                       assert(in_hands[KEY(e)]);
                       in_hands[KEY(e)] = false;
                       free_keys++;
                       head[home] = WORD(LINK, KEY(e), tag);
                       break
                   :: else -> top = head[home]
                   fi
               }
            od
        :: else
        fi;
        done = true
    :: else
    fi
}

/* Clears unused variables, which would otherwise multiply equivalent states. */
inline forget() {
    d_step {
        made = 0; top = 0; below = 0; tag = 0; done = false; was_empty = false; is_spent = false;
        none_was_free = none_was_free & ~(1 << me);
        at = 0;
        do
        :: at < STACKS -> seen[at] = 0; at++
        :: else -> break
        od;
        at = 0
    }
}

proctype thread(byte me) {
    short made, top, below, victim;
    short seen[STACKS];
    byte at, tag, turn;
    bool done, was_empty, is_spent;
    byte home = me % STACKS;

    turn = 0;
    do
    :: turn < (me == PROCESSES - 1 -> LAST_TURNS : TURNS) ->
        turn++;
        create(home);
        if
        :: made == -1 -> skip
        :: else ->
            atomic {
                victim = made;
                forget();
                shown[me] = victim;
                if
                :: skip                                  /* destroys its own id */
#ifndef ONLY_OWN
                :: victim = shown[(me + 1) % PROCESSES]  /* or the id of another process */
                :: victim = -1                           /* or keeps its id */
#endif
                fi
            };
            if
            :: victim != -1 -> destroy(victim, home)
            :: else
            fi
        fi;
        atomic { forget(); victim = 0 }
    :: else -> break
    od;
    atomic { finished++ }
}

/* Checks the final state. */
proctype judge() {
    byte i, count, length;
    short at;
    finished == PROCESSES;
    d_step {
        count = 0;
        i = 0;
        do
        :: i < STACKS ->
            at = head[i];
            length = 0;
            if
            :: KIND(at) != END -> length = note[KEY(at)] + 1
            :: else
            fi;
            do
            :: KIND(at) != END ->
                assert(length > 0);
                assert(!in_hands[KEY(at)]);
                assert(!put_away[KEY(at)]);
                count++;
                length--;
                at = word[KEY(at)]
            :: else -> break
            od;
            assert(length == 0);
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < KEYS ->
            if
            :: in_hands[i] -> assert(KIND(word[i]) == LIVE); count++
            :: put_away[i] || i >= fresh -> count++
            :: else
            fi;
            i++
        :: else -> break
        od;
        assert(count == KEYS)
    }
}

init {
    byte i;
    atomic {
        i = 0;
        do
        :: i < KEYS -> word[i] = WORD(END, i, 0); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < STACKS -> head[i] = WORD(END, 0, 0); i++
        :: else -> break
        od;
#ifdef ALL_WAIT
        fresh = KEYS;
        i = 0;
        do
        :: i < KEYS ->
            if
            :: KIND(head[i % STACKS]) == LINK ->
                word[i] = head[i % STACKS];
                note[i] = note[KEY(word[i])] + 1
            :: else
            fi;
            head[i % STACKS] = WORD(LINK, i, 1);
            i++
        :: else -> break
        od;
#endif
        i = 0;
        do
        :: i < PROCESSES -> shown[i] = -1; run thread(i); i++
        :: else -> break
        od;
        run judge()
    }
}
