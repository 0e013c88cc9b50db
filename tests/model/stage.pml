// SPDX-License-Identifier: BSD-3-Clause
/* The protocol of the native driver's stage, written down for the checker Spin: see README.md.
 *
 * A step of the model is an access to one word of the shared window. "Code:" names the function that a
 * part stands for; test_model.py holds these names against the sources. */

#ifndef RANKS
#define RANKS 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef PLACES /* memory for so many generations; fewer than slots: the node has no more; 0: each slot has its own */
#define PLACES 0
#endif
#ifndef GENERATIONS
#define GENERATIONS 3
#endif
#ifndef SHARES
#define SHARES 2
#endif
#ifndef WRITERS
#define WRITERS 1
#endif
#ifndef THREADS /* 1: background=thread */
#define THREADS 0
#endif
#ifndef ENCODED /* 1: each share is a chunk that goes through filters, and any number are stored at once */
#define ENCODED 0
#endif
#ifndef FAILURES /* stores that may fail */
#define FAILURES 0
#endif
#ifndef SETTLE_AFTER /* generations, then ranks complete pending writes, and at the end again */
#define SETTLE_AFTER GENERATIONS
#endif
#ifndef GIVES_UP /* 1: a rank that waits may find that it waited too long */
#define GIVES_UP 0
#endif
#ifndef LEFT_OUT /* generations that rank 0 does not write: it is out of step */
#define LEFT_OUT 0
#endif

#if ENCODED
#define LIMITED 0
#else
#define LIMITED 1
#endif
#define LATER THREADS
#define ALL_SHARES ((1 << SHARES) - 1)
#define BATCH ((SLOTS / 2 < 4) -> (SLOTS / 2) : 4)
#define SLOT(f) ((f) % SLOTS)
#define GENERATION(f) ((f) / SLOTS)
#define ME (1 << me)

/* Stage::StageHeader. */
byte waiting, watching, storers, storing, reported, first_failure, meetings;
bool broken, no_more;
byte taken; /* a bit for each buffer */

/* Stage::Slot. */
byte uses[SLOTS], arrived[SLOTS], done[SLOTS], slot_storers[SLOTS], failed[SLOTS];
#if PLACES
byte place[SLOTS];
#define PLACE(f) place[SLOT(f)]
#define MEMORIES (PLACES + 1)
#else
#define PLACE(f) (SLOT(f) + 1)
#define MEMORIES (SLOTS + 1)
#endif
byte claims_generation[SLOTS], claims[SLOTS]; /* one word */

/* The futex on StageHeader::events. The number itself is not kept: whoever read it is in `seen` until it is counted
 * up, which is when comparing it finds another one. */
byte seen, asleep;
/* The futex on Slot::arrived, whose number is compared as it is. */
byte asleep_on_arrived[SLOTS];

/* Background::queue_ of each rank. */
#if THREADS
chan queue[RANKS] = [GENERATIONS] of { byte };
#endif

/* Where ranks match calls, and what they tell each other there. */
byte come, reported_by_others, wrote;
bool mismatch;

/* Of the proof alone: whose cells lie in a buffer, what was stored, what failed, what ranks saw of it. */
byte cells_of[MEMORIES], packed_by[MEMORIES];
byte stored[GENERATIONS];
byte failures_left = FAILURES;
bool has_failed[GENERATIONS];
bool any_failed;
byte looked_back[GENERATIONS];
byte give_ups_left = GIVES_UP;

/* Code: Stage::is_free */
#define is_free(f) (uses[SLOT(f)] == GENERATION(f))
/* Code: Stage::is_over */
#define is_over(f) (uses[SLOT(f)] > GENERATION(f))
/* Code: Stage::batch_is_over, whose parts can only become true */
#if SLOTS < 4
#define batch_is_over(f) is_over(f)
#else /* two of them: the model has at most 5 slots */
#define FIRST_OF_BATCH(f) ((f) - (f) % 2)
#define batch_is_over(f) (is_over(FIRST_OF_BATCH(f)) && is_over(FIRST_OF_BATCH(f) + 1))
#endif
/* Code: Stage::has_space */
#define has_space(f) ((f) < SLOTS || batch_is_over((f) - SLOTS))
/* Code: Stage::has_unclaimed */
#define has_unclaimed(f) (claims_generation[SLOT(f)] == GENERATION(f) && claims[SLOT(f)] != ALL_SHARES)
/* Code: Stage::full_count */
#define full_count(f) ((GENERATION(f) + 1) * RANKS)
/* Code: Stage::deadlocked. Nobody serves. */
#define away (meetings - my_meetings * RANKS)
#define stuck(f) (arrived[SLOT(f)] != (uses[SLOT(f)] + 1) * RANKS && away > 0 && away < RANKS && waiting + away >= RANKS)

/* Code: wake_all */
#define wake_all() asleep = 0
/* Code: wake_one (any one of those that sleep) */
#define woken(p) (asleep & (1 << p)) -> asleep = asleep & ~(1 << p)
inline wake_one() {
  if
  :: atomic { woken(0) }
  :: atomic { woken(1) }
  :: atomic { woken(2) }
  :: atomic { woken(3) }
#if RANKS == 3
  :: atomic { woken(4) }
  :: atomic { woken(5) }
#endif
  :: asleep == 0
  fi
}

/* Code: Stage::announce */
inline announce(for_one) {
#ifdef MUTANT_LOOKS_FOR_SLEEPERS_FIRST
  others = storers > 0 || waiting > 0;
  seen = 0;
  if
  :: !others
#else
  seen = 0; /* ++events */
#if THREADS
  others = storers > 0;
#endif
  if
  :: !others && waiting == 0
#endif
  :: else ->
     if
     :: atomic { !(for_one) || others -> wake_all() }
     :: (for_one) && !others && watching == 0 && !no_more -> wake_one()
     :: atomic { (for_one) && !others && (watching > 0 || no_more) } wake_all()
     fi
  fi;
  others = false
}

/* Code: Stage::fail */
inline fail() {
  broken = true;
  seen = 0;
#ifndef MUTANT_FAILS_SILENTLY
  wake_all()
#else
  skip
#endif
}

#if PLACES
/* Code: Stage::take_buffer. The first one that is free. */
#define FIRST_FREE (!(taken & 1) -> 1 : (!(taken & 2) -> 2 : (!(taken & 4) -> 3 : 4)))
inline take_buffer() {
  if
  :: atomic { taken != (1 << PLACES) - 1 -> mine = FIRST_FREE; taken = taken | (1 << (mine - 1)) }
  :: else ->
#if PLACES < SLOTS
     no_more = true
#endif
  fi
}

/* Code: Stage::give_back */
inline give_back() {
  atomic { taken = taken & ~(1 << (mine - 1)); mine = 0 }
}
#endif

/* Code: Stage::open */
inline open(f) {
#if PLACES
  if
  :: !is_free(f)
  :: else ->
     if
     :: atomic { PLACE(f) != 0 -> ok = true }
     :: else ->
        take_buffer();
        if
        :: mine == 0 -> ok = PLACE(f) != 0
        :: else ->
           if
           :: atomic { PLACE(f) == 0 -> PLACE(f) = mine; mine = 0; ok = true }
           :: else ->
              give_back();
              announce(false);
              ok = true
           fi
        fi
     fi
  fi
#else
  ok = is_free(f)
#endif
}

/* Code: FieldWriter::pack, Stage::data. Cells are there at the latest when the rank arrives. */
inline pack(f) {
  assert(PLACE(f) != 0);
  if
  :: packed_by[PLACE(f)] == 0 -> cells_of[PLACE(f)] = f
  :: else -> assert(cells_of[PLACE(f)] == f) /* of two generations in one buffer */
  fi;
  packed_by[PLACE(f)] = packed_by[PLACE(f)] | (1 << rank)
}

/* Code: Stage::arrive */
inline arrive(f, for_one) {
  d_step { pack(f); arrived[SLOT(f)]++; last = arrived[SLOT(f)] == full_count(f) };
  if
  :: last ->
     last = false;
     announce(for_one);
#if THREADS && !defined(MUTANT_THREADS_NOT_WOKEN)
     if
     :: slot_storers[SLOT(f)] > 0 -> asleep_on_arrived[SLOT(f)] = 0 /* wake_all */
     :: else
     fi
#endif
  :: else
  fi
}

#define is_there(f) \
  (PLACE(f) != 0 && cells_of[PLACE(f)] == f && packed_by[PLACE(f)] == (1 << RANKS) - 1)

/* Code: Stage::start_storing */
inline start_storing() {
#if LIMITED
  if
  :: atomic { storing < WRITERS -> storing++; got = true }
  :: else
  fi
#else
  got = true
#endif
}

/* Code: Stage::claim. What is read anew where another rank was quicker is what counts. */
inline claim(f) {
  got = false;
  if
  :: has_unclaimed(f) ->
     start_storing();
     if
     :: got ->
#ifdef MUTANT_CLAIMS_IN_TWO_STEPS
        share = (claims[SLOT(f)] & 1 -> 1 : 0);
        claims[SLOT(f)] = claims[SLOT(f)] | (1 << share)
#else
        atomic {
          if
#ifdef MUTANT_CLAIMS_OF_ANY_GENERATION
          :: claims[SLOT(f)] != ALL_SHARES ->
#else
          :: has_unclaimed(f) ->
#endif
             share = (claims[SLOT(f)] & 1 -> 1 : 0);
             claims[SLOT(f)] = claims[SLOT(f)] | (1 << share);
             assert(is_there(f))
          :: else -> got = false
          fi
        };
#if LIMITED
        if
        :: got
        :: else ->
           storing--;
           announce(false)
        fi
#endif
#endif
     :: else
     fi
  :: else
  fi
}

/* Code: Stage::report_failure */
inline report_failure(f) {
  if
  :: atomic { reported == 0 -> reported = 1 }
     atomic { first_failure = 1 + f; reported = 2 }
  :: else
  fi;
  failed[SLOT(f)] = failed[SLOT(f)] | (1 << (GENERATION(f) % 2))
}

/* Code: Stage::release. Words that no one else reads before the slot is free are one step. */
inline release(f, for_one) {
#ifdef MUTANT_FREES_BEFORE_RESET
  uses[SLOT(f)]++;
#endif
#if PLACES
  atomic { mine = PLACE(f); PLACE(f) = 0; cells_of[mine] = 0; packed_by[mine] = 0 };
  give_back();
#endif
  d_step {
#if !PLACES
    cells_of[PLACE(f)] = 0;
    packed_by[PLACE(f)] = 0;
#endif
    done[SLOT(f)] = 0;
    failed[SLOT(f)] = failed[SLOT(f)] & (1 << (GENERATION(f) % 2));
    claims_generation[SLOT(f)] = GENERATION(f) + 1;
    claims[SLOT(f)] = 0
  };
#ifndef MUTANT_FREES_BEFORE_RESET
  uses[SLOT(f)]++;
#endif
#if SLOTS < 4
  announce(false)
#else
  if
  :: batch_is_over(f) -> announce(false)
  :: else -> announce(for_one)
  fi
#endif
}

/* Code: Storing::store_plain, Storing::store_encoded. From the claim to here the cells were there. */
inline store_cells(f) {
  assert(is_there(f));
  assert(!(stored[f] & (1 << share))); /* not twice */
  stored[f] = stored[f] | (1 << share);
  share = 0
}

#ifdef MUTANT_FREES_BEFORE_LAST_SHARE
#define k_last (SHARES - 1)
#else
#define k_last SHARES
#endif

/* Code: Stage::finish */
inline finish(f) {
#if LIMITED
  storing--;
#endif
  d_step { done[SLOT(f)]++; last = done[SLOT(f)] == k_last };
  if
#if LIMITED
  :: !last -> announce(true)
#else
  :: last -> announce(false)
#endif
  :: else
  fi
}

/* Code: Storing::store_share */
inline store_share(f) {
  claim(f);
  if
  :: got ->
     if
     :: d_step { store_cells(f) }
#if FAILURES
     :: d_step {
          failures_left > 0 -> failures_left--;
          store_cells(f);
          has_failed[f] = true;
          any_failed = true;
          pending = true
        }
        report_failure(f)
#endif
     fi;
     finish(f);
     if
     :: last -> last = false; release(f, LIMITED)
     :: else
     fi
  :: else
  fi
}

/* Code: Stage::all_arrived */
inline all_arrived(f) {
  if
  :: is_free(f) -> ok = arrived[SLOT(f)] == full_count(f)
  :: else
  fi
}

/* Code: FieldWriter::store_one */
inline store_one() {
  got = false;
#if !THREADS || ENCODED
  g = front;
  do
  :: got || g >= closed -> break
  :: else ->
     if
     :: is_over(g)
     :: else ->
        if
        :: broken -> break
        :: else
        fi;
        all_arrived(g);
        if
        :: !ok -> break
        :: else -> ok = false
        fi;
        store_share(g)
     fi;
     g++
  od;
  g = 0;
  ok = false
#endif
}

/* Code: Stage::wait, wait_while. The part of it in which a rank sleeps, when it has nothing better to do. */
inline sleep(f, watches, is_true_by_now) {
  if
  :: watches -> watching++
  :: else
  fi;
  waiting++;
#ifdef MUTANT_SLEEPS_WITHOUT_LOOKING
  atomic { asleep = asleep | ME; seen = seen & ~ME };
#else
  atomic {
    if
    :: seen & ME -> asleep = asleep | ME; seen = seen & ~ME
    :: else
    fi
  };
#endif
  if
  :: !(asleep & ME)
#if GIVES_UP
  :: atomic { (asleep & ME) && give_ups_left > 0 -> give_ups_left--; asleep = asleep & ~ME }
     fail()
#endif
#if LEFT_OUT
  :: atomic { timeout && (asleep & ME) && !(is_true_by_now) && stuck(f) -> asleep = asleep & ~ME }
     fail()
#else
#ifdef CHECK_STUCK
  /* Ranks are in step, however long a store takes. */
  :: (asleep & ME) && !(is_true_by_now) && stuck(f) -> assert(false)
#endif
#endif
  fi;
  waiting--;
  if
  :: watches -> watching--
  :: else
  fi
}

#define look_at_events() seen = seen | ME
#define come_out_of_wait() seen = seen & ~ME

/* Code: Stage::pass_on */
inline pass_on() {
  g = front;
  do
  :: g >= closed -> break
  :: else ->
     all_arrived(g);
     if
     :: ok && has_unclaimed(g) -> announce(true)
     :: else
     fi;
     ok = false;
     g++
  od;
  g = 0
}

inline is_open_with_space(f) {
  if
  :: ENCODED || has_space(f) -> open(f)
  :: else
  fi
}

/* Code: FieldWriter::wait_until, Stage::wait. For room. */
inline wait_for_space(f) {
  is_open_with_space(f);
  if
  :: ok -> ok = false
  :: else ->
     do
     ::
#ifndef MUTANT_READS_EVENTS_LATE
        look_at_events();
#endif
        is_open_with_space(f);
#ifdef MUTANT_READS_EVENTS_LATE
        look_at_events();
#endif
        if
        :: atomic { ok -> ok = false; come_out_of_wait() }
           pass_on();
           break
        :: else ->
           if
           :: atomic { broken -> stopped = true; come_out_of_wait() }
              break
           :: else ->
              store_one();
              if
              :: got -> got = false
              :: else -> sleep(f, ENCODED, ((ENCODED || has_space(f)) && is_free(f)))
              fi
           fi
        fi
     od
  fi
}

/* Code: FieldWriter::drop_stored */
inline drop_stored() {
  do
  :: atomic { front < closed && is_over(front) -> front++ }
  :: else -> break
  od
}

/* Code: FieldWriter::wait_until, Stage::wait. Until all is stored. */
inline wait_for_all() {
  drop_stored();
  if
  :: front == closed
  :: else ->
     do
     :: look_at_events();
        drop_stored();
        if
        :: atomic { front == closed -> come_out_of_wait() }
           break
        :: else ->
           if
           :: atomic { broken -> stopped = true; come_out_of_wait() }
              break
           :: else ->
              store_one();
              if
              :: got -> got = false
              :: else -> sleep(closed - 1, true, false)
              fi
           fi
        fi
     od
  fi
}

/* Code: Background::has_turn */
#define FIRST_TURN(f) ((((f) % RANKS) * WRITERS) % RANKS)
#define has_turn(f) (ENCODED || (rank + RANKS - FIRST_TURN(f)) % RANKS < WRITERS)

/* Code: FieldWriter::close_generation, Background::take, Stage::somebody_waits */
inline close_generation() {
  is_open = false;
  closed++;
  drop_stored();
#if THREADS
  if
  :: has_turn(closed - 1) -> queue[rank] ! (closed - 1)
  :: else
  fi;
#endif
  arrive(closed - 1, LIMITED && !LATER);
#if !LATER
  do
  :: waiting > 0 -> break
  :: else ->
     store_one();
     if
     :: got -> got = false
     :: else -> break
     fi
  od
#endif
}

/* Code: FieldWriter::look_back, Stage::failure_of, Stage::forget_failure */
inline look_back(f) {
#if LATER && FAILURES
  if
  :: fresh && rank == 0 -> reported = 0
  :: else
  fi;
  fresh = false;
  if
  :: f >= settled + SLOTS ->
     if
     :: failed[SLOT(f)] & (1 << (GENERATION(f - SLOTS) % 2)) ->
        reported != 1; /* looks until it is written */
        d_step {
          assert(reported == 2);
          assert(has_failed[f - SLOTS]);
          /* All ranks hear the same in the same write. */
          assert(looked_back[f] == 0 || looked_back[f] == 1 + first_failure);
          looked_back[f] = 1 + first_failure
        }
     :: else ->
        d_step {
          assert(!has_failed[f - SLOTS]);
          assert(looked_back[f] == 0 || looked_back[f] == 1);
          looked_back[f] = 1
        }
     fi
  :: else
  fi
#else
  skip
#endif
}

/* Code: FieldWriter::write, FieldWriter::open_generation. One field in one generation; it is closed when the next one
 * finds no room in it. */
inline write() {
  if
  :: is_open -> close_generation()
  :: else
  fi;
  open(closed);
  if
  :: ok -> ok = false
  :: else -> wait_for_space(closed)
  fi;
  if
  :: stopped
  :: else ->
     look_back(closed);
     is_open = true
  fi
}

/* Where all meet; what they bring is there for all when they go on. */
inline all_come() {
  rounds++;
  come >= rounds * RANKS
}

/* Code: PendingWrites::complete, PendingWrites::match_calls, Stage::enter_match */
inline meet() {
  d_step { meetings++; my_meetings++ };
  d_step {
    if
    :: come == rounds * RANKS -> wrote = closed + is_open
    :: else -> mismatch = mismatch || wrote != closed + is_open
    fi;
    come++
  };
  all_come();
  if
  :: mismatch -> fail()
  :: else
  fi
}

/* Code: FieldWriter::flush, FieldWriter::submit_pending, Background::rest */
inline flush() {
  if
  :: is_open ->
     if
     :: !broken -> close_generation()
     :: else -> is_open = false
     fi
  :: else
  fi;
  wait_for_all();
#if THREADS
  empty(queue[rank]);
  atomic { pending = pending || thread_failed[rank]; thread_failed[rank] = false };
#endif
  settled = closed;
  fresh = true
}

/* Code: PendingWrites::compare */
inline compare() {
  d_step { reported_by_others = reported_by_others | (pending -> 1 : 0) | (broken -> 2 : 0); come++ };
  all_come();
  d_step {
    assert((reported_by_others & 1) == (any_failed -> 1 : 0)); /* no failure without that all hear of it */
    assert(!stopped || (reported_by_others & 2));
    assert((reported_by_others & 2) == (broken -> 2 : 0));
    if
    :: !(reported_by_others & 2) ->
       g = 0;
       do
       :: g < closed -> assert(stored[g] == ALL_SHARES); g++
       :: else -> break
       od;
       g = 0
    :: else
    fi
  }
}

#define settle() meet(); flush(); compare()

#if THREADS
bool thread_failed[RANKS];
#endif

proctype model(byte rank) {
  byte me = rank;
  byte front, closed, settled, g, mine, share, rounds, my_meetings;
  bool ok, got, last, others, is_open, stopped, pending;
  bool fresh = true;

  do
  :: !stopped && closed + is_open < SETTLE_AFTER - (rank == 0 -> LEFT_OUT : 0) -> write()
  :: else -> break
  od;
  settle();
#if SETTLE_AFTER < GENERATIONS
  do
  :: !stopped && closed + is_open < GENERATIONS -> write()
  :: else -> break
  od;
  settle()
#endif
}

#if THREADS
/* Code: Stage::await_arrivals */
inline await_arrivals(f) {
  slot_storers[SLOT(f)]++;
  mine = arrived[SLOT(f)];
  if
  :: mine < full_count(f) && !broken ->
     atomic {
       if
       :: arrived[SLOT(f)] == mine -> asleep_on_arrived[SLOT(f)] = asleep_on_arrived[SLOT(f)] | ME
       :: else
       fi;
       mine = 0
     };
     if
     :: !(asleep_on_arrived[SLOT(f)] & ME)
     /* Nobody wakes it when the stage breaks: it looks by itself, after a moment. */
     :: atomic { broken -> asleep_on_arrived[SLOT(f)] = asleep_on_arrived[SLOT(f)] & ~ME }
     fi
  :: else
  fi;
  mine = 0;
  slot_storers[SLOT(f)]--
}

/* Code: Stage::await_event */
inline await_event() {
  storers++;
  atomic {
    if
    :: seen & ME -> asleep = asleep | ME; seen = seen & ~ME
    :: else
    fi
  };
  !(asleep & ME);
  storers--
}

/* Code: Background::run, Background::step. A thread may let any time pass before it stores
 * (Stage::is_time_to_store), which is what the checker tries anyway. */
proctype background(byte rank) {
  byte me = RANKS + rank;
  byte f, mine, share;
  bool ok, got, last, others, pending;

end:
  do
  :: queue[rank] ? <f> ->
     if
     :: broken || is_over(f) -> queue[rank] ? f; f = 0
     :: else ->
        all_arrived(f);
        if
        :: !ok -> await_arrivals(f)
        :: else ->
           ok = false;
           look_at_events();
           store_share(f);
           atomic { thread_failed[rank] = thread_failed[rank] || pending; pending = false };
           if
           :: atomic { got -> got = false; come_out_of_wait() }
           :: else ->
              if
              :: has_unclaimed(f) -> await_event()
              :: else -> atomic { come_out_of_wait(); queue[rank] ? f; f = 0 }
              fi
           fi
        fi
     fi
  od
}
#endif

init {
  atomic {
    run model(0);
    run model(1);
#if RANKS == 3
    run model(2);
#endif
#if THREADS
    run background(0);
    run background(1);
#if RANKS == 3
    run background(2)
#endif
#endif
  }
}
