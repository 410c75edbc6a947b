/* How often the planted loop of `verdicts.sh` runs in every 16th call of the function it was
 * planted in. In a file of its own, so that versions with more or less work differ in one word and
 * were compiled once. */
#ifndef ROUNDS
#define ROUNDS 0
#endif
const long planted_rounds = ROUNDS;
