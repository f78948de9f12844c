/** Asks before a second broadcast of one name is made, of those that have not ended. */
import { askAboutName } from '../../components/ask-first.tsx';
import { callAll } from '../../use-load.ts';

/** Returns where none has the name, or somebody agreed; throws Declined, and ApiError. */
export async function askAboutBroadcast(project: string, name: string): Promise<void> {
  const all = await callAll('GET /projects/{project}/email-broadcasts', { path: { project } });
  const open = all.filter(({ status }) => status !== 'sent' && status !== 'cancelled');
  await askAboutName('broadcast', name, open);
}
