/** Where a restricted key may be used from: its own origins, added and removed. */
import { useState } from 'preact/hooks';
import type { Origin } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Badge } from '../../components/badge.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Empty } from '../../components/empty.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import type { KeyPartProps } from './key-part.ts';
import { ORIGIN_TYPES } from './origin-types.ts';

export function Origins({ path, of, onChange }: KeyPartProps) {
  const load = useLoad('GET /projects/{project}/api-keys/{apiKey}/origins', { path });
  const [is_adding, setAdding] = useState(false);
  const changed = (): void => {
    load.reload();
    onChange();
  };
  return (
    <>
      {!of.restricted && (
        <div class="notice">
          <p>
            This key may be used from anywhere, so that origins have no effect.{' '}
            <a href={`${hrefOf(to`/projects/${path.project}/keys/${path.apiKey}`)}?tab=permissions`}>
              Restrict it
            </a>{' '}
            first.
          </p>
        </div>
      )}
      <Panel
        title="Origins"
        lead="Web sites and apps that a restricted key is accepted from, besides the global ones."
        actions={
          <button type="button" class="button small" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            Add an origin
          </button>
        }
        flush
      >
        <Loaded load={load}>
          {(origins) => <OriginList path={path} origins={origins} onChange={changed} />}
        </Loaded>
      </Panel>
      {is_adding && <AddOrigin path={path} onClose={() => setAdding(false)} onChange={changed} />}
    </>
  );
}

function AddOrigin({
  path,
  onClose,
  onChange,
}: Pick<KeyPartProps, 'path' | 'onChange'> & { onClose(): void }) {
  const [type, setType] = useState<Origin['type']>('domain');
  const add = async (entered: Entered): Promise<void> => {
    const sha256_fingerprints = entered.words('sha256_fingerprints');
    await call('POST /projects/{project}/api-keys/{apiKey}/origins', {
      path,
      body: {
        type,
        value: entered.text('value'),
        ...(sha256_fingerprints.length > 0 && { sha256_fingerprints }),
      },
    });
    onChange();
    onClose();
  };
  return (
    <Dialog title="Add an origin" onClose={onClose}>
      <Form submit="Add" onSubmit={add} onCancel={onClose}>
        <SelectField
          name="type"
          label="Kind"
          choices={ORIGIN_TYPES}
          value={type}
          onChange={(value) => setType(ORIGIN_TYPES.find(([each]) => each === value)?.[0] ?? 'domain')}
        />
        <TextField
          name="value"
          label={type === 'domain' ? 'Address' : 'App id'}
          placeholder={type === 'domain' ? 'https://shop.example.com' : 'com.example.shop'}
          hint={
            type === 'domain'
              ? 'Scheme and host. https://*.example.com is every host below, and example.com.'
              : undefined
          }
          is_focused
          is_mono
        />
        {type === 'android' && (
          <TextField
            name="sha256_fingerprints"
            label="Certificates"
            hint="SHA-256 fingerprints of the certificates that the app may be signed with, separated by commas. Empty: any."
            is_mono
          />
        )}
      </Form>
    </Dialog>
  );
}

function OriginList(props: Pick<KeyPartProps, 'path' | 'onChange'> & { origins: readonly Origin[] }) {
  const { path, origins, onChange } = props;
  if (origins.length === 0)
    return (
      <Empty
        title="No origin yet"
        command={`satchel key origin add ${path.apiKey} --type domain --value https://shop.example.com`}
      >
        <p>Add the address of the web site, or the id of the app, that may use this key.</p>
      </Empty>
    );
  return (
    <table aria-label="Origins">
      <tbody>
        {origins.map((origin) => (
          <tr key={origin.id}>
            <td>
              <code>{origin.value}</code>
            </td>
            <td>
              <Badge>{ORIGIN_TYPES.find(([type]) => type === origin.type)?.[1] ?? origin.type}</Badge>
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
