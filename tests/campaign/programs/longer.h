/* Functions of other people's programs are made longer by a call of one of these; by which time is
 * said when the program starts (longer.c). */
#ifdef __cplusplus
extern "C" {
#endif
void longer_1(void);
void longer_2(void);
void longer_3(void);
#ifdef __cplusplus
}
#endif
