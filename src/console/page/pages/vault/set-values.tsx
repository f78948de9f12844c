/** Storing values of a service: only what was entered or emptied is sent, and what is wrong stands beside its field. */
import type { VaultService } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { FileField } from '../../components/fields.tsx';
import { type Entered, Form } from '../../components/form.tsx';
import { Panel } from '../../components/page.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { toast } from '../../components/toast.tsx';
import { navigate, to } from '../../router.ts';
import { keeping } from './environments.tsx';
import type { ServicePartProps } from './service.tsx';

type Field = VaultService['fields'][number];

export function SetValues({ path, query, service, metadata, etag, onChange }: ServicePartProps) {
  const back = (): void => navigate(keeping(to`/projects/${path.project}/vault/${path.service}`, query));
  const set = async (entered: Entered): Promise<void> => {
    const values: Record<string, unknown> = {};
    for (const field of service.fields) {
      const value = await readEntered(field, entered, metadata?.values[field.field] ?? '');
      if (value !== undefined) values[field.field] = value;
    }
    const changed = Object.keys(values).length;
    if (changed > 0) {
      const version = { path, query, if_match: entered.version };
      await call('PUT /projects/{project}/vault/{service}', { ...version, body: { values } });
    }
    toast(changed > 0 ? `Stored in the vault: ${Object.keys(values).join(', ')}` : 'Nothing was entered');
    onChange();
    back();
  };
  return (
    <Panel
      title={`Set values of ${service.label}`}
      lead="Only what you enter changes. A plain value that you empty is removed; a secret that you leave empty stays as it is."
    >
      <Form submit="Store" version={etag} onSubmit={set} onCancel={back}>
        {service.fields.map((field, index) => {
          const is_stored = metadata?.present[field.field] === true;
          const is_inherited = metadata?.inherited.includes(field.field);
          const common = { name: field.field, label: field.label, hint: field.help_text };
          const is_focused = index === 0;
          if (field.file) return <FileField key={field.field} {...common} />;
          if (field.secret) {
            return (
              <SecretField
                key={field.field}
                {...common}
                is_focused={is_focused}
                placeholder={is_inherited ? 'production’s' : is_stored ? 'stored; left empty, it stays' : ''}
              />
            );
          }
          return (
            <TextField
              key={field.field}
              {...common}
              is_focused={is_focused}
              value={metadata?.values[field.field] ?? ''}
              is_mono
            />
          );
        })}
      </Form>
    </Panel>
  );
}

/** Undefined where nothing is to change. */
async function readEntered(field: Field, entered: Entered, now: string): Promise<unknown> {
  if (field.file) {
    const file = entered.file(field.field);
    return file ? { filename: file.name, content_base64: await toBase64(file) } : undefined;
  }
  // A secret may well end in a space, but hardly in the line break that came with it from a file.
  if (field.secret) return entered.exact(field.field).replace(/\n$/, '') || undefined;
  const text = entered.text(field.field);
  // As the field shows it: on one line.
  return text === now.replace(/[\r\n]/g, '').trim() ? undefined : text || null;
}

async function toBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const chunks: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) {
    chunks.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  }
  return btoa(chunks.join(''));
}
