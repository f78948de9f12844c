/** Lists, adds and removes the origins that a restricted key may be used from. */
import { useState } from 'preact/hooks';
import type { Origin } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { mayWrite } from '../../capabilities.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { askFirst } from '../../components/ask-first.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Empty, Loaded, Notice, Panel } from '../../components/page.tsx';
import { counted } from '../../components/quantity.tsx';
import { Badge } from '../../components/status.tsx';
import { hrefOf, to } from '../../router.ts';
import { useLoad } from '../../use-load.ts';
import type { KeyPartProps } from './detail.tsx';
import { ORIGIN_TYPES, OriginFields, originIn, tellOfOrigin } from './origin-fields.tsx';

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
        <Notice>
          This key may be used from anywhere, so that origins have no effect.{' '}
          <a href={`${hrefOf(to`/projects/${path.project}/keys/${path.apiKey}`)}?tab=permissions`}>
            Restrict it
          </a>{' '}
          first.
        </Notice>
      )}
      <Panel
        title="Origins"
        lead="Web sites and apps that a restricted key is accepted from, besides the global ones."
        actions={
          mayWrite() && (
            <button type="button" class="button small" onClick={() => setAdding(true)}>
              <Icon name="plus" />
              Add an origin
            </button>
          )
        }
        flush
      >
        <Loaded load={load}>
          {(origins) => <OriginList path={path} of={of} origins={origins} onChange={changed} />}
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
  const add = async (entered: Entered): Promise<void> => {
    const { value } = await call('POST /projects/{project}/api-keys/{apiKey}/origins', {
      path,
      body: originIn(entered),
    });
    tellOfOrigin(value);
    onChange();
    onClose();
  };
  return (
    <Dialog title="Add an origin" onClose={onClose}>
      <Form submit="Add" onSubmit={add} onCancel={onClose}>
        <OriginFields
          address="https://shop.example.com"
          hint="Scheme and host. https://*.example.com is every host below, and example.com. A hybrid app has its own, such as capacitor://localhost."
        />
      </Form>
    </Dialog>
  );
}

function OriginList(props: Omit<KeyPartProps, 'etag'> & { origins: readonly Origin[] }) {
  const { path, of, origins, onChange } = props;
  const remove = async ({ id, value }: Origin): Promise<void> => {
    const left = origins.length - 1;
    const is_live = of.restricted && of.is_active && !of.is_test;
    if (is_live)
      await askFirst({
        title: `Remove ${value}?`,
        submit: 'Remove the origin',
        tone: 'bad',
        told: (
          <p>
            {of.name} is in use: from the next request on it is refused to whoever comes from there.{' '}
            {left === 0
              ? 'No origin of its own is left to it.'
              : `It keeps ${left === 1 ? 'the other origin' : `the ${counted(left, 'other origin')}`}.`}
          </p>
        ),
      });
    await call('DELETE /projects/{project}/api-keys/{apiKey}/origins/{origin}', {
      path: { ...path, origin: id },
    });
    onChange();
  };
  if (origins.length === 0)
    return (
      <Empty
        title="No origin yet"
        command={`satchel key origin add ${path.apiKey} --type domain --value https://shop.example.com`}
      >
        <p>Add the web site, or the id of the app, that may use this key.</p>
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
                act={() => remove(origin)}
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
