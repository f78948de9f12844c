/** Changing a key's name, what it may do, and its limits. */
import { call } from '../../api.ts';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { permissionsOf } from './abilities.ts';
import type { KeyPartProps } from './detail.tsx';
import { askAboutOrigins, KeyFields, LIMITS, NAME } from './key-fields.tsx';

export function KeyPermissions({ path, of, etag, onChange }: KeyPartProps) {
  const change = async (entered: Entered): Promise<void> => {
    const restricted = entered.flag('restricted');
    const allow_no_origin = entered.flag('allow_no_origin');
    const is_for_pages = of.restricted || ['page', 'form'].includes(entered.text('preset'));
    if (restricted !== of.restricted || allow_no_origin !== of.allow_no_origin)
      await askAboutOrigins({
        restricted,
        allow_no_origin,
        origins: of.origins_count,
        is_for_pages,
        act: 'Save',
      });
    await call('PATCH /projects/{project}/api-keys/{apiKey}', {
      path,
      if_match: entered.version,
      body: {
        ...entered.read({ ...NAME, ...LIMITS }),
        ...permissionsOf(entered.all('can'), of.permissions),
        restricted,
        allow_no_origin,
      },
    });
    toast('The changes are saved and hold from the next request');
    onChange();
  };
  return (
    <Panel>
      <Form submit="Save the changes" version={etag} onSubmit={change}>
        <KeyFields of={of} />
      </Form>
    </Panel>
  );
}
