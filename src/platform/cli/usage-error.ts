/** The command was not given as it is written; ends with `EXIT.usage`. For what commander itself cannot check. */
export class UsageError extends Error {}
