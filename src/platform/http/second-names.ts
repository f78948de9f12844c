/** Two things of one name in a project are allowed, but seldom meant: whoever makes the second is told. */
import { isSecond, type Naming } from '../words/phrases.ts';
import { Reply } from './routes.ts';

/** The sentence at the shell. */
export function secondOfName(what: string, name: string): string {
  return `satchel: warning: this project has another ${what} that is called ${name}; only their ids tell them apart`;
}

/** The answer to a POST that made something of a project; with a Warning header where it is the second of its name. */
export function madeReply(made: { name: string }, names: Naming, project: { id: number }): Reply {
  return warnedReply(made, names.what, isSecond(names, project.id, made.name));
}

/** As `madeReply`, for who has looked by themselves. */
export function warnedReply(made: unknown, what: string, is_second: boolean): Reply {
  const warning = `299 satchel "another active ${what} of this project has this name"`;
  return new Reply(201, made, is_second ? { Warning: warning } : {});
}
