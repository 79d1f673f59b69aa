/* do_nothing: exit 0, for the launch benchmark. */
int
main(void)
{
	return 0;
}
