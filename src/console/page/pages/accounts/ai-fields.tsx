/** The fields of an AI account, for adding one and for changing it. */
import type { AiAccount } from '../../api.generated.ts';
import { CheckField } from '../../components/check-field.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { person } from '../../session.ts';

export const PROVIDERS: readonly (readonly [AiAccount['provider'], string])[] = [
  ['openai', 'OpenAI'],
  ['anthropic', 'Anthropic'],
  ['gemini', 'Gemini'],
  ['openrouter', 'OpenRouter'],
  ['bedrock', 'Bedrock'],
  ['vertex-ai', 'Vertex AI'],
  ['ollama', 'Ollama'],
  ['custom', 'Custom'],
];

export function providerOf(name: string): AiAccount['provider'] {
  return PROVIDERS.find(([each]) => each === name)?.[0] ?? 'custom';
}

export function tellProvider(provider: AiAccount['provider']): string {
  return PROVIDERS.find(([each]) => each === provider)?.[1] ?? provider;
}

export function AiFields({ of }: { of?: AiAccount }) {
  return (
    <>
      <TextField
        name="name"
        label="Name"
        value={of?.name}
        placeholder="OpenAI, team account"
        is_focused={!of}
      />
      <SelectField name="provider" label="Provider" choices={PROVIDERS} value={of?.provider ?? 'openai'} />
      <SecretField
        name="api_key"
        label="Key"
        placeholder={of?.key_prefix ? 'stored; left empty, it stays' : ''}
        hint="Bedrock, Vertex AI, Ollama and custom ones may go without."
      />
      <TextField
        name="base_url"
        label="API URL"
        value={of?.base_url}
        placeholder="https://llm.example.com/v1"
        hint="Where it is not the provider's own."
      />
      <TextField name="organization_id" label="Organization" value={of?.organization_id} />
      {person.value?.all_projects && (
        <CheckField
          name="all_projects"
          label="Serves every project"
          hint="A standing rule: later ones too."
          is_checked={of?.all_projects ?? false}
        />
      )}
    </>
  );
}
