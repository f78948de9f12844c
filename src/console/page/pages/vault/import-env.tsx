/** Storing the variables of a .env file that is pasted: all of them or none, once somebody has seen what they replace. */
import type { EnvImport } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { askFirst } from '../../components/ask-first.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { counted } from '../../components/quantity.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { Badge } from '../../components/status.tsx';
import { toast } from '../../components/toast.tsx';
import type { InEnvironment } from './environments.tsx';

const IMPORT = 'POST /projects/{project}/vault/env/import';

export function ImportEnv(props: {
  project: string;
  query: InEnvironment;
  onChange(): void;
  onClose(): void;
}) {
  const { project, query, onChange, onClose } = props;
  const path = { project };
  const store = async (entered: Entered): Promise<void> => {
    const text = entered.exact('text');
    const { names } = await call(IMPORT, { path, query, body: { text, dry_run: true } });
    const variables = counted(names.length, 'variable');
    const told = <Names of={names} />;
    await askFirst({ title: `Store ${variables}?`, submit: `Store ${variables}`, told });
    await call(IMPORT, { path, query, body: { text } });
    toast(`${variables} ${names.length === 1 ? 'is' : 'are'} stored`);
    onChange();
    onClose();
  };
  return (
    <Dialog title="Paste a .env file" onClose={onClose}>
      <Form submit="Look at its names" onSubmit={store} onCancel={onClose}>
        <SecretField
          name="text"
          label="The file"
          rows={8}
          placeholder={'SESSION_KEY="k-1"\nLOG_LEVEL=info'}
          hint="As dotenv reads it. Nothing is stored before you have seen its names; a line that is none, or that a # would cut, is refused with all others."
          is_focused
        />
      </Form>
    </Dialog>
  );
}

function Names({ of }: { of: EnvImport['names'] }) {
  const replaced = of.filter(({ replaces }) => replaces).length;
  return (
    <>
      <p>
        {replaced === 0
          ? 'Nothing that is stored is replaced.'
          : `${counted(replaced, 'value')} that ${replaced === 1 ? 'is' : 'are'} stored ${replaced === 1 ? 'goes' : 'go'} into the history.`}{' '}
        What is new is stored as a secret, but for what is meant for pages and apps.
      </p>
      <ul class="names" aria-label="Its names">
        {of.map(({ name, replaces, hides, plain }) => (
          <li key={name}>
            <code>{name}</code>
            <span class="badges">
              <Badge tone={replaces ? 'warn' : 'neutral'}>{replaces ? 'replaces' : 'new'}</Badge>
              {plain && <Badge>no secret</Badge>}
              {hides !== null && <Badge tone="warn">{`wins over ${hides}`}</Badge>}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
