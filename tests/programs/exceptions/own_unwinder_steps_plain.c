/* Walks with an unwinder of its own. */
#include "../finds.h"
