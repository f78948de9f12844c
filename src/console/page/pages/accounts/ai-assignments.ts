/** Giving AI accounts to projects and taking them away: each replaces the projects of one account, and keeps the others. */
import { call } from '../../api.ts';
import { callAll } from '../../use-all.ts';

interface Named {
  id: number;
  public_id: string;
  slug: string;
}

/** Whether an address names this project, by whichever of its names. */
export function isNamed(project: Named, name: string): boolean {
  return [String(project.id), project.public_id, project.slug].includes(name);
}

/** Of an account without the standing rule. Throws ApiError. */
export async function assign(account: number, project: string): Promise<void> {
  const now = await callAll('GET /ai-accounts/{account}/projects', { path: { account } });
  const others = now.filter((each) => !isNamed(each, project)).map(({ id }) => id);
  await replace(account, [...others, project]);
}

/** As `assign`. */
export async function takeAway(account: number, project: string): Promise<void> {
  const now = await callAll('GET /ai-accounts/{account}/projects', { path: { account } });
  await replace(
    account,
    now.filter((each) => !isNamed(each, project)).map(({ id }) => id),
  );
}

async function replace(account: number, project_ids: (number | string)[]): Promise<void> {
  await call('PUT /ai-accounts/{account}/projects', { path: { account }, body: { project_ids } });
}
