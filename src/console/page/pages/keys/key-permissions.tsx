/** Changing a key's name, what it may do, and its limits. */
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/panel.tsx';
import { toast } from '../../components/toast.tsx';
import { permissionsOf } from './abilities.ts';
import { KeyFields } from './key-fields.tsx';
import type { KeyPartProps } from './key-part.ts';

export function KeyPermissions({ path, of, etag, onChange }: KeyPartProps) {
  const change = async (entered: Entered): Promise<void> => {
    await call('PATCH /projects/{project}/api-keys/{apiKey}', {
      path,
      if_match: entered.version,
      body: {
        name: entered.text('name'),
        ...permissionsOf(entered.all('can'), of.permissions),
        restricted: entered.flag('restricted'),
        allow_no_origin: entered.flag('allow_no_origin'),
        rate_limit_per_minute: entered.numberOrNull('rate_limit_per_minute'),
        email_daily_limit: entered.numberOrNull('email_daily_limit'),
      },
    });
    toast('The changes are saved and hold from the next request');
    onChange();
  };
  return (
    <Panel>
      <Form is_wide submit="Save the changes" version={etag} onSubmit={change}>
        <KeyFields of={of} />
      </Form>
    </Panel>
  );
}
