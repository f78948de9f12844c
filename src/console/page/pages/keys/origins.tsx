/** Where a restricted key may be used from: its own origins, added and removed. */
import type { ApiKey, Origin } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Badge } from '../../components/badge.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useLoad } from '../../use-load.ts';

interface OriginsProps {
  path: { project: string; apiKey: string };
  of: ApiKey;
  onChange(): void;
}

const TYPES: readonly (readonly [Origin['type'], string])[] = [
  ['domain', 'Web site'],
  ['android', 'Android app'],
  ['ios', 'iOS app'],
];

export function Origins({ path, of, onChange }: OriginsProps) {
  const load = useLoad('GET /projects/{project}/api-keys/{apiKey}/origins', { path });
  const changed = (): void => {
    load.reload();
    onChange();
  };
  const add = async (entered: Entered): Promise<void> => {
    const type = TYPES.find(([each]) => each === entered.text('type'))?.[0] ?? 'domain';
    const sha256_fingerprints = entered.words('sha256_fingerprints');
    await call('POST /projects/{project}/api-keys/{apiKey}/origins', {
      path,
      body: {
        type,
        value: entered.text('value'),
        ...(sha256_fingerprints.length > 0 && { sha256_fingerprints }),
      },
    });
    changed();
  };
  return (
    <Panel
      title="Origins"
      lead={
        of.restricted
          ? 'The key is accepted from these, and from the global ones, alone.'
          : 'The key is not restricted, so that these have no effect yet: turn on "From certain origins only" below.'
      }
    >
      <div class="stack">
        <Loaded load={load}>
          {(origins) => <OriginList path={path} origins={origins} onChange={changed} />}
        </Loaded>
        <Form key={load.data?.length ?? 0} submit="Add the origin" onSubmit={add}>
          <SelectField name="type" label="Kind" choices={TYPES} />
          <TextField
            name="value"
            label="Origin"
            placeholder="https://shop.example.com"
            hint="A web site's scheme and host, https://*.example.com for every host below, or the id of an app."
            is_mono
          />
          <TextField
            name="sha256_fingerprints"
            label="Certificates"
            hint="Of an Android app: SHA-256 fingerprints that it must be signed with, separated by commas."
            is_mono
          />
        </Form>
      </div>
    </Panel>
  );
}

function OriginList({ path, origins, onChange }: Omit<OriginsProps, 'of'> & { origins: readonly Origin[] }) {
  if (origins.length === 0) return <p class="muted">None yet.</p>;
  return (
    <table aria-label="Origins">
      <tbody>
        {origins.map((origin) => (
          <tr key={origin.id}>
            <td>
              <code>{origin.value}</code> <Badge>{origin.type}</Badge>
            </td>
            <td class="number">
              <ActionButton
                is_small
                label={`Remove ${origin.value}`}
                done={`${origin.value} is removed`}
                act={async () => {
                  await call('DELETE /projects/{project}/api-keys/{apiKey}/origins/{origin}', {
                    path: { ...path, origin: origin.id },
                  });
                  onChange();
                }}
              >
                Remove
              </ActionButton>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
