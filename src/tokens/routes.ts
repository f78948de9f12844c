/** The one endpoint of access tokens; they are made and revoked on the command line alone. */
import { managementRoute, type Route } from '../platform/http/routes.ts';
import { tokenIntrospection } from './schemas.ts';
import type { Tokens } from './service.ts';

export function tokenRoutes(tokens: Tokens): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/token',
      tag: 'Token',
      summary: 'What this token is and may do',
      description: '`projects` is there only for a token that is scoped to projects.',
      response: tokenIntrospection,
      handle: ({ caller }) => tokens.introspect(caller),
    }),
  ];
}
