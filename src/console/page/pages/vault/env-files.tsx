/** Environment files: everything in the vault, as the loader of one kind of app reads it, shown for a while to copy, or saved. */
import { useState } from 'preact/hooks';
import type { RevealedVault } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { may } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { saveFile } from '../../components/button-link.tsx';
import { Command, CopyButton } from '../../components/copy-button.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Panel } from '../../components/page.tsx';
import { useRevealed } from '../../use-revealed.ts';
import type { InEnvironment } from './environments.tsx';

const TARGETS = [
  ['server', 'A server (dotenv)', ''],
  ['nextjs', 'Next.js', 'NEXT_PUBLIC_'],
  ['vite', 'Vite', 'VITE_'],
  ['expo', 'Expo', 'EXPO_PUBLIC_'],
] as const;
type Target = (typeof TARGETS)[number][0];

export function EnvFiles({ project, query }: { project: string; query: InEnvironment }) {
  const [target, setTarget] = useState<Target>('server');
  const { shown, left_s, show, hide } = useRevealed<string>();
  /** Of the file that was shown or saved last; they hold no value. */
  const [notes, setNotes] = useState<readonly string[]>([]);
  const reveal = async (use: (text: string) => void): Promise<void> => {
    const vault = await call('POST /projects/{project}/vault/reveal', { path: { project }, query });
    const text = vault.env[target];
    const none = 'Nothing is stored that this file would hold.';
    setNotes([...(text === undefined ? [none] : []), ...notesOn(vault, target)]);
    if (text !== undefined) use(text);
  };
  const of = query.environment === undefined ? [] : [query.environment];
  // No browser saves a name that begins with a dot as it is.
  const save = (text: string): void =>
    saveFile(new Blob([text], { type: 'text/plain' }), `${[project, ...of, target].join('-')}.env`);
  const choose = (value: string): void => {
    hide();
    setNotes([]);
    setTarget(TARGETS.find(([each]) => each === value)?.[0] ?? 'server');
  };
  return (
    <Panel
      title="Environment files"
      lead={
        target === 'server'
          ? 'Every value and every secret under its name, quoted so that dotenv reads it back as it is stored.'
          : 'Only what a page or an app may carry, quoted so that the build reads it back as it is stored.'
      }
    >
      <div class="stack">
        <div class="row end">
          <SelectField
            name="target"
            label="For"
            choices={TARGETS.map(([value, label]) => [value, label] as const)}
            value={target}
            onChange={choose}
          />
          {may('can_reveal_vault') && shown === null && (
            <ActionButton kind="primary" is_for_readers act={() => reveal(show)}>
              Show the file, on record
            </ActionButton>
          )}
          {may('can_reveal_vault') && (
            <ActionButton is_for_readers act={() => reveal(save)}>
              Download it, on record
            </ActionButton>
          )}
          {shown !== null && (
            <>
              <button type="button" class="button" onClick={hide}>
                Hide now
              </button>
              <span class="muted">Recorded. Hidden again in {left_s} s.</span>
            </>
          )}
        </div>
        {!may('can_reveal_vault') && <p class="muted">Showing it takes the capability can_reveal_vault.</p>}
        {shown !== null && (
          <div class="secret">
            <code class="file-text">{shown}</code>
            <CopyButton text={shown} label="Copy the file" />
          </div>
        )}
        {notes.length > 0 && (
          <div class="notice warn" role="status">
            {notes.map((note) => (
              <p key={note}>{note}</p>
            ))}
          </div>
        )}
        <div>
          <p class="muted">Where the app runs, the command line does the same without anybody seeing it:</p>
          <Command
            of={`satchel vault env --project ${project}${of.map((name) => ` --environment ${name}`)} --target ${target} > .env`}
          />
        </div>
      </div>
    </Panel>
  );
}

/** Names each value that is not in the file as one would think; never the value itself. */
function notesOn({ shadowed, unquotable, undecryptable }: RevealedVault, target: Target): string[] {
  const prefixes = TARGETS.flatMap(([each, , prefix]) => (prefix && each !== target ? [prefix] : []));
  const own = TARGETS.find(([each]) => each === target)?.[2] ?? '';
  const isOfTarget = (name: string): boolean =>
    own === '' ? !prefixes.some((prefix) => name.startsWith(prefix)) : name.startsWith(own);
  return [
    ...shadowed
      .filter(({ name }) => isOfTarget(name))
      .map(
        ({ service, field, name }) =>
          `${name} is that of the environment variables; ${field} of ${service}, which has the same name, is not in the file.`,
      ),
    ...unquotable
      .filter((each) => each.target === target)
      .map(({ name }) => `${name} is left out: no file of this kind can hold its value. Show it by itself.`),
    ...undecryptable.map(
      ({ service, field }) => `${field} of ${service} is left out: it does not decrypt. Store it again.`,
    ),
  ];
}
