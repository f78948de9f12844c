/** Two things of one name in a project are allowed, but seldom meant: whoever makes the second is told. */
import { Reply } from './routes.ts';

/** The sentence at the shell. */
export function secondOfName(what: string, name: string): string {
  return `satchel: warning: this project has another ${what} that is called ${name}; only their ids tell them apart`;
}

/** The answer to a POST that made something; with a Warning header where it is the second of its name. */
export function madeReply(made: unknown, what: string, is_second: boolean): Reply {
  const warning = `299 satchel "another active ${what} of this project has this name"`;
  return new Reply(201, made, is_second ? { Warning: warning } : {});
}
