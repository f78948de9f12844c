/**
 * The rules of the code base that a machine can hold. Each rule is a function from source files to complaints of the
 * form `file:line what is wrong`; it is applied to the repository, and to a small sample that breaks it.
 */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dir, '..');
const MIGRATIONS = 'src/platform/database/migrations/';
const ROOMS = ['cli', 'database', 'files', 'host', 'http', 'jobs', 'mail', 'secrets', 'words'];
/** The districts of src/, each with those that it stands on; all stand on the platform, and app/ stands on all. */
const DISTRICTS: Readonly<Record<string, readonly string[]>> = {
  access: [],
  secrets: ['access'],
  files: ['access'],
  mail: ['access'],
  operation: ['access'],
  captcha: ['secrets', 'access'],
  marketing: ['mail', 'files', 'access'],
  webhooks: ['marketing', 'mail', 'files', 'access'],
  console: [],
};
const PAGE = 'src/console/page/';
/** What every client of the API stands on; it is printed into those that are generated, and imports nothing else. */
const CLIENT_CORE = /^src\/operation\/client\/core(-[a-z]+)?\.ts$/;
/** A kit that pages are made of: a part of it may wait for its page. */
const COMPONENTS = `${PAGE}components/`;
/** Written by scripts/console-types.ts. */
const GENERATED = /\.generated\.ts$/;
/** Who may name tables of other nouns in SQL: what looks at everything, filters, and the polling of the platform's jobs. */
const LOOKS_ACROSS = [
  'src/marketing/contacts/filter-members-store.ts',
  'src/operation/backups/store.ts',
  'src/operation/backups/unpacking.ts',
  'src/operation/doctor/secret-checks.ts',
  'src/operation/doctor/store.ts',
  'src/operation/holds/store.ts',
  'src/operation/jobs/store.ts',
  'src/operation/metrics/store.ts',
  'src/operation/overview/store.ts',
  'src/operation/replica/service.ts',
  'src/operation/search/store.ts',
  'src/operation/transfers/inventory-tables.ts',
  'src/operation/transfers/manifest-store.ts',
  'src/operation/transfers/rows-store.ts',
  'src/operation/transfers/store.ts',
];
const MAX_SRC_LINES = 500;
const MAX_TEST_LINES = 800;
/** Of code, without blanks and comments. */
const MIN_CODE_LINES = 30;
/** What the executable and its build begin with; what the layers keep apart; and time and ids, which all stand on. */
const MAY_BE_SMALL =
  /^src\/(main|version)\.ts$|\.d\.ts$|\/(routes|store|tables)\.ts$|^src\/platform\/host\/(clock|ids)\.ts$/;

interface Source {
  /** From the root of the repository: `src/keys/service.ts`. */
  path: string;
  text: string;
  /** The text with its comments blanked out, line by line the same. */
  code: string;
  /** The code with the contents of its strings and regular expressions blanked out as well. */
  bare: string;
}

interface Import {
  line: number;
  specifier: string;
  /** The imported file's path from the root, or null for a package. */
  target: string | null;
  type_only: boolean;
  /** Only loaded when that line runs. */
  is_lazy: boolean;
}

type Rule = (sources: readonly Source[]) => string[];

/* --- Reading sources ------------------------------------------------------------------------------------------ */

const COMMENT_OR_LITERAL = new RegExp(
  [
    String.raw`(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)`,
    String.raw`(?<quoted>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")`,
    String.raw`(?<template>\`(?:\\.|[^\`\\])*\`)`,
    // A slash is a division after a name, a number or a closing bracket; anywhere else it starts an expression.
    String.raw`(?<regexp>(?<=(?:^|[^\s\w$)\]}'"]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/)`,
  ].join('|'),
  'g',
);

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** What a template embeds in `${}` is code; the rest of it is text. */
function blankTemplate(template: string): string {
  let kept = '';
  let end = 0;
  for (const match of template.matchAll(/\$\{([^{}]*)\}/g)) {
    kept += `${blank(template.slice(end, match.index + 2))}${match[1] ?? ''} `;
    end = match.index + match[0].length;
  }
  return kept + blank(template.slice(end));
}

function source(path: string, text: string): Source {
  // What stands between tags is text with apostrophes of its own, which nothing but a parser can tell from strings.
  if (!path.endsWith('.ts')) return { path, text, code: text, bare: text };
  const replace = (strings_too: boolean) =>
    text.replace(COMMENT_OR_LITERAL, (literal, ...rest) => {
      const groups = rest.at(-1);
      if (groups.comment !== undefined) return blank(literal);
      if (!strings_too) return literal;
      return groups.template === undefined ? blank(literal) : blankTemplate(literal);
    });
  return { path, text, code: replace(false), bare: replace(true) };
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function importsOf(file: Source): Import[] {
  const pattern =
    /(?<![\w$.])(?:(?:import|export)(?<type_only>\s+type)?\b(?:[^'"`;()]*?|\s*\{[^{}]*\}\s*)\bfrom\s*|import\s*\(\s*|import\s+|new URL\(\s*)(['"])(?<specifier>[^'"\n]+)\2/g;
  return [...file.code.matchAll(pattern)]
    .map((match) => {
      const specifier = match.groups?.specifier ?? '';
      return {
        line: lineAt(file.code, match.index + match[0].length),
        specifier,
        target: specifier.startsWith('.') ? normalize(join(dirname(file.path), specifier)) : null,
        type_only: match.groups?.type_only !== undefined,
        is_lazy: /^(?:import\s*\(|new URL)/.test(match[0]),
      };
    })
    .filter((found) => found.target !== null || !found.specifier.includes(':/'));
}

function inSrc(path: string): boolean {
  return path.startsWith('src/');
}

/** A complaint for every match of `pattern` in the chosen text of the files that `applies` picks. */
function forbid(
  part: 'text' | 'code' | 'bare',
  pattern: RegExp,
  message: string,
  applies: (path: string) => boolean,
): Rule {
  return (sources) =>
    sources
      .filter((file) => applies(file.path))
      .flatMap((file) =>
        [...file[part].matchAll(new RegExp(pattern, 'g'))].map(
          (match) => `${file.path}:${lineAt(file[part], match.index)} ${message}`,
        ),
      );
}

/* --- Rules of imports ----------------------------------------------------------------------------------------- */

type Room =
  | 'main'
  | 'app'
  | 'edge'
  | 'service'
  | 'store'
  | 'tables'
  | 'platform'
  | 'base'
  | 'page'
  | 'client';

/** Who may import whom; in the same room only files of the same folder, or one service another. */
const MAY_IMPORT: Readonly<Record<Room, readonly Room[]>> = {
  main: ['app', 'platform', 'base'],
  app: ['app', 'edge', 'service', 'platform', 'base'],
  edge: ['edge', 'service', 'platform', 'base'],
  service: ['service', 'store', 'tables', 'platform', 'base'],
  store: ['store', 'tables', 'platform', 'base'],
  tables: ['tables', 'base'],
  platform: ['platform', 'base'],
  base: ['base'],
  // What runs in a browser shares no code with the server, and meets it by the API alone.
  page: ['page', 'client'],
  client: ['client'],
};

const ROOM_OF_WORD: Readonly<Record<string, Room>> = {
  routes: 'edge',
  tasks: 'edge',
  cli: 'edge',
  store: 'store',
  tables: 'tables',
};

/** `access/keys/key-store.ts` is a store too; a file named after no room is a part of its service. */
function roomOf(path: string): Room {
  if (path.startsWith(PAGE)) return 'page';
  if (CLIENT_CORE.test(path)) return 'client';
  const [, district, file] = path.split('/');
  if (path === 'src/main.ts') return 'main';
  // The file by which a district composes itself, such as src/marketing/marketing.ts, is wiring.
  if (district === 'app' || file === `${district}.ts`) return 'app';
  if (file === undefined) return 'base';
  if (district === 'platform') return 'platform';
  const words = basename(path, '.ts').split('-');
  return ROOM_OF_WORD[words.at(-1) ?? ''] ?? ROOM_OF_WORD[words[0] ?? ''] ?? 'service';
}

const importDirection: Rule = (sources) =>
  sources
    .filter((file) => inSrc(file.path))
    .flatMap((file) =>
      importsOf(file).flatMap(({ line, target, type_only }) => {
        if (target === null || target === 'package.json' || target.startsWith('handbook/')) return [];
        if (!inSrc(target)) return [`${file.path}:${line} imports ${target}, which is no part of src/`];
        const from = roomOf(file.path);
        const to = roomOf(target);
        // What a column holds beyond SQLite's types is said by the noun's fields.
        const is_own_schema = type_only && target === join(dirname(file.path), 'schemas.ts');
        if ((from === 'tables' || from === 'store') && is_own_schema) return [];
        if (!MAY_IMPORT[from].includes(to)) {
          return [`${file.path}:${line} is of ${from} and must not import ${target}, which is of ${to}`];
        }
        // What stands in a district's own folder is shared by its nouns.
        const is_abroad = ![dirname(file.path), dirname(dirname(file.path))].includes(dirname(target));
        const is_of_noun = to === 'edge' || to === 'service' || to === 'store' || to === 'tables';
        const is_wiring = from === 'main' || from === 'app';
        if (is_abroad && is_of_noun && !is_wiring && basename(target) !== 'service.ts') {
          return [`${file.path}:${line} must meet ${dirname(target)} through its service.ts, not ${target}`];
        }
        return [];
      }),
    );

const noImportCircles: Rule = (sources) => {
  const imports = new Map(
    sources.map((file) => [file.path, importsOf(file).filter((one) => !one.type_only)]),
  );
  const complaints: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    for (const { target, line } of imports.get(path) ?? []) {
      if (target === null || done.has(target)) continue;
      const start = trail.indexOf(target);
      if (start >= 0) {
        complaints.push(`${path}:${line} closes a circle: ${[...trail.slice(start), target].join(' -> ')}`);
      } else {
        visit(target, [...trail, target]);
      }
    }
    done.add(path);
  };
  for (const path of imports.keys()) if (!done.has(path)) visit(path, [path]);
  return complaints;
};

/** What every line of the command line loads, `--help` too, is neither a noun nor the database. */
const lightFirstLines: Rule = (sources) => {
  const complaints: string[] = [];
  const seen = new Set(['src/main.ts']);
  for (const path of seen)
    for (const { target, type_only, is_lazy, line } of sources
      .filter((file) => file.path === path)
      .flatMap(importsOf)) {
      if (target === null || type_only || is_lazy) continue;
      const is_light = /^src\/([a-z-]+\.ts$|app\/command-line\.ts|platform\/(cli|host|http|mail|words)\/)/;
      if (is_light.test(target)) seen.add(target);
      else complaints.push(`${path}:${line} has every verb load ${target}: import it where it is used`);
    }
  return complaints;
};

/** Libraries that take a tenth of a second to load: the file that imports one is itself loaded when it is used. */
const HEAVY = /^@modelcontextprotocol\//;
const heavyWhenUsed: Rule = (sources) => {
  const named = sources.flatMap((file) => importsOf(file).map((each) => ({ ...each, path: file.path })));
  const heavy = named.filter(
    ({ path, specifier, type_only, is_lazy }) =>
      inSrc(path) && HEAVY.test(specifier) && !type_only && !is_lazy,
  );
  return named
    .filter(({ path, target, type_only, is_lazy }) => {
      return inSrc(path) && !type_only && !is_lazy && heavy.some((each) => each.path === target);
    })
    .map(({ path, line, target }) => `${path}:${line} loads ${target} before it is used: import() it there`);
};

/** Services of one noun may use those of another, but never both each other's, by whatever way round. */
const nounsInOrder: Rule = (sources) => {
  const uses = new Map<string, Map<string, string>>();
  for (const file of sources.filter(({ path }) => ['service', 'store', 'tables'].includes(roomOf(path)))) {
    const of = dirname(file.path);
    for (const { target, line } of importsOf(file)) {
      if (target === null || roomOf(target) !== 'service' || dirname(target) === of) continue;
      uses.set(of, (uses.get(of) ?? new Map()).set(dirname(target), `${file.path}:${line}`));
    }
  }
  const complaints: string[] = [];
  const done = new Set<string>();
  const visit = (folder: string, trail: readonly string[]): void => {
    for (const [used, place] of uses.get(folder) ?? []) {
      if (done.has(used)) continue;
      const start = trail.indexOf(used);
      if (start < 0) visit(used, [...trail, used]);
      else complaints.push(`${place} goes round: ${[...trail.slice(start), used].join(' -> ')}`);
    }
    done.add(folder);
  };
  for (const folder of uses.keys()) if (!done.has(folder)) visit(folder, [folder]);
  return complaints;
};

const districtsInOrder: Rule = (sources) =>
  sources
    .filter(({ path }) => !path.startsWith(PAGE))
    .flatMap((file) => {
      const [root, of = '', rest] = file.path.split('/');
      if (root !== 'src' || rest === undefined || of === 'app' || of === 'platform') return [];
      const stands_on = DISTRICTS[of];
      if (stands_on === undefined)
        return [`${file.path}:1 is in no district: ${Object.keys(DISTRICTS).join(', ')}`];
      return importsOf(file).flatMap(({ line, target }) => {
        const [, district = '', part] = target?.split('/') ?? [];
        if (part === undefined || district === of || district === 'platform' || stands_on.includes(district))
          return [];
        return [`${file.path}:${line} imports ${target}, but ${of} does not stand on ${district}`];
      });
    });

const elysiaOnlyAtTheEdge: Rule = (sources) =>
  sources
    .filter(({ path }) => inSrc(path) && !/^src\/(app|platform\/http)\/[a-z-]+\.ts$/.test(path))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => /^(elysia|@elysiajs)(\/|$)/.test(specifier))
        .map(({ line }) => `${file.path}:${line} only app/ and platform/http/ may import Elysia`),
    );

/** A worker is started by its address rather than imported, so it is a root of its own, as it is in the build. */
const noDeadFiles: Rule = (sources) => {
  const by_path = new Map(sources.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const queue = sources
    .map((file) => file.path)
    .filter((path) => path === 'src/main.ts' || path === `${PAGE}main.tsx` || path.endsWith('.worker.ts'));
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    const file = by_path.get(path);
    if (file === undefined || reached.has(path)) continue;
    reached.add(path);
    for (const { target } of importsOf(file)) if (target !== null) queue.push(target);
  }
  return sources
    .filter(
      ({ path }) =>
        inSrc(path) && !path.endsWith('.d.ts') && !path.startsWith(COMPONENTS) && !reached.has(path),
    )
    .map(({ path }) => `${path}:1 is dead: nothing that starts at src/main.ts or a worker imports it`);
};

/* --- Rules of files ------------------------------------------------------------------------------------------- */

const fileNames: Rule = (sources) =>
  sources.flatMap(({ path }) => {
    const name = basename(path);
    const is_migration = path.startsWith(MIGRATIONS) && /^\d{4}_[a-z0-9_]+\.sql$/.test(name);
    const is_kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*\.(tsx?|sh)$/.test(name);
    const complaints: string[] = [];
    if (!is_kebab && !is_migration) complaints.push(`${path}:1 is not kebab-case`);
    if (!/^[a-z0-9-]+(\/[a-z0-9-]+)*$/.test(dirname(path)))
      complaints.push(`${path}:1 has a folder that is not kebab-case`);
    if (/^(utils?|helpers|common|misc|index)\.tsx?$/.test(name) && inSrc(path)) {
      complaints.push(`${path}:1 has a name that says nothing of what belongs in it`);
    }
    const depth = path.startsWith(PAGE) ? 6 : path.startsWith(MIGRATIONS) ? 5 : 4;
    if (inSrc(path) && path.split('/').length > depth) {
      complaints.push(`${path}:1 is deeper than src/district/noun/file.ts`);
    }
    if (path.startsWith('src/platform/') && !ROOMS.includes(path.split('/')[2] ?? '')) {
      complaints.push(`${path}:1 is in none of the platform's rooms: ${ROOMS.join(', ')}`);
    }
    return complaints;
  });

const fileSizes: Rule = (sources) =>
  sources.flatMap(({ path, text }) => {
    const limit = path.startsWith('test/') ? MAX_TEST_LINES : MAX_SRC_LINES;
    const lines = text.replace(/\n$/, '').split('\n').length;
    return /\.tsx?$/.test(path) && lines > limit
      ? [`${path}:${limit + 1} is past ${limit} lines (${lines})`]
      : [];
  });

/** Workers and other files that are loaded where they run may be small, and so may what tables hold as JSON. */
const noTinyFiles: Rule = (sources) => {
  const apart = sources.flatMap((file) =>
    importsOf(file).flatMap(({ target, is_lazy }) =>
      is_lazy || file.path.endsWith('/tables.ts') ? [target] : [],
    ),
  );
  return sources
    .filter(({ path }) => inSrc(path) && path.endsWith('.ts') && !path.startsWith(PAGE))
    .filter(({ path }) => !MAY_BE_SMALL.test(path) && !apart.includes(path))
    .flatMap(({ path, code }) => {
      const lines = code.split('\n').filter((line) => line.trim() !== '').length;
      return lines < MIN_CODE_LINES
        ? [`${path}:1 has ${lines} lines of code: let it join the file whose thought it is`]
        : [];
    });
};

const firstComments: Rule = (sources) =>
  sources
    .filter(
      ({ path, text }) =>
        !path.startsWith('test/') &&
        /\.tsx?$/.test(path) &&
        !path.endsWith('.d.ts') &&
        !/^(#![^\n]*\n)?\/[/*]/.test(text),
    )
    .map(({ path }) => `${path}:1 must begin with a comment that says what belongs in the file`);

const tablesAtHome: Rule = (sources) => {
  const files = sources.filter(({ path }) => inSrc(path) && path.endsWith('.ts'));
  // The platform is one home.
  const homeOf = (path: string) => (path.startsWith('src/platform/') ? 'src/platform' : dirname(path));
  const homes = new Map(
    files.flatMap(({ path, code }) =>
      [...code.matchAll(/\bsqliteTable\(\s*'(\w+)'/g)].map(
        ([, table = '']) => [table, homeOf(path)] as const,
      ),
    ),
  );
  return files
    .filter(({ path }) => !LOOKS_ACROSS.includes(path))
    .flatMap(({ path, code }) =>
      [...code.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/g)].flatMap(({ 1: table = '', index }) => {
        const home = homes.get(table);
        if (home === undefined || home === homeOf(path)) return [];
        return [`${path}:${lineAt(code, index)} names the table ${table} in SQL, which is of ${home}`];
      }),
    );
};

/* --- Rules of code -------------------------------------------------------------------------------------------- */

const RULES: Readonly<Record<string, Rule>> = {
  'imports run one way, and nouns meet in service.ts': importDirection,
  'imports make no circles': noImportCircles,
  'nouns stand on each other in one order': nounsInOrder,
  'a verb loads what it needs': lightFirstLines,
  'what is heavy is loaded when it is used': heavyWhenUsed,
  'districts stand on each other one way': districtsInOrder,
  'Elysia stays at the edge': elysiaOnlyAtTheEdge,
  'no file is dead': noDeadFiles,
  'names are kebab-case and say something': fileNames,
  'files stay small': fileSizes,
  'no file is for one sentence': noTinyFiles,
  'a file begins with what belongs in it': firstComments,
  'only config.ts reads the environment': forbid(
    'bare',
    /\b(process|Bun|import\.meta)\s*\.\s*env\b/,
    'reads the environment; only src/config.ts may',
    (path) => inSrc(path) && path !== 'src/config.ts',
  ),
  'only clock.ts knows the time': forbid(
    'bare',
    /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(\(\s*\)|(?!\s*\())/,
    'reads the time; only src/platform/host/clock.ts may',
    (path) => inSrc(path) && path !== 'src/platform/host/clock.ts' && path !== `${PAGE}time.ts`,
  ),
  'nothing is left to be done': forbid(
    'text',
    /\b(TODO|FIXME|XXX|HACK|WIP)\b/,
    'holds a note of unfinished work',
    inSrc,
  ),
  'SQL is written in two ways': forbid(
    'bare',
    /\$client\b|\.(?:run|all|get|values)\(\s*sql\b/,
    "is a third way of writing SQL: use drizzle's builder or raw-sql.ts",
    (path) => inSrc(path) && !path.startsWith('src/platform/database/'),
  ),
  'SQL names the tables of its own noun': tablesAtHome,
  'no type is any': forbid('bare', /(?<![\w$.])any(?![\w$]|\s*[(:?]\s)/, 'uses the type any', (path) =>
    path.endsWith('.ts'),
  ),
  'the type checker is not silenced': forbid(
    'text',
    /@ts-(ignore|nocheck)\b/,
    'silences the type checker',
    (path) => path.endsWith('.ts') && path !== 'test/tidy.test.ts',
  ),
  'a literal is written out, not spread into another': forbid(
    'code',
    /\.\.\.\(?(?:\{|\[['"`])/,
    'spreads a literal: write its members where they go',
    inSrc,
  ),
  'nothing exports another file whole': forbid(
    'bare',
    /\bexport\s+\*/,
    'is a barrel: import from where a thing is',
    inSrc,
  ),
};

/* --- The repository, and samples that break each rule --------------------------------------------------------- */

function repository(): Source[] {
  return [...new Bun.Glob('{src,test,scripts}/**/*.{ts,tsx,sql,sh}').scanSync({ cwd: ROOT })]
    .filter((path) => !GENERATED.test(path))
    .sort()
    .map((path) => source(path, readFileSync(join(ROOT, path), 'utf8')));
}

const HEAD = '/** What belongs here. */\n';

/** For each rule, files that break it, and the start of each complaint they must cause. */
const SAMPLES: Readonly<Record<string, { files: Record<string, string>; expected: string[] }>> = {
  'imports run one way, and nouns meet in service.ts': {
    files: {
      'src/platform/auth.ts': "import {\n  a,\n} from '../access/keys/service.ts';",
      'src/access/keys/service.ts':
        "import { b } from './store.ts';\nimport { c } from '../../files/objects/store.ts';",
      'src/access/keys/store.ts': "import { d } from './tables.ts';\nexport { e } from './service.ts';",
      'src/access/keys/tables.ts': "const f = await import('../../platform/database.ts');",
      'src/files/objects/routes.ts':
        "import type { g } from './store.ts';\nimport { h } from '../../access/keys/service.ts';",
      'src/errors.ts': "import './platform/auth.ts';\n// import './app/app.ts';",
      'src/app/app.ts': "import { i } from '../files/objects/routes.ts';\nimport { j } from '../main.ts';",
      'src/console/routes.ts': "import { k } from './page/main.tsx';",
      'src/console/page/pages/keys/list.tsx': "import { l } from '../../../../limits.ts';",
      'src/console/page/api.ts': "import { m } from '../../operation/client/core.ts';",
      'src/operation/client/core-uploads.ts':
        "import { n } from './core.ts';\nimport { o } from './service.ts';",
    },
    expected: [
      'src/platform/auth.ts:3 ',
      'src/access/keys/service.ts:2 ',
      'src/access/keys/store.ts:2 ',
      'src/access/keys/tables.ts:1 ',
      'src/files/objects/routes.ts:1 ',
      'src/errors.ts:1 ',
      'src/app/app.ts:2 ',
      'src/console/routes.ts:1 ',
      'src/console/page/pages/keys/list.tsx:1 ',
      'src/operation/client/core-uploads.ts:2 ',
    ],
  },
  'imports make no circles': {
    files: {
      'src/access/keys/service.ts': "\nimport { a } from '../tokens/service.ts';",
      'src/access/tokens/service.ts': "import { b } from '../../secrets/vault/service.ts';",
      'src/secrets/vault/service.ts':
        "import type { c } from '../../access/tokens/service.ts';\nimport { d } from '../../access/keys/service.ts';",
    },
    expected: ['src/secrets/vault/service.ts:2 '],
  },
  'nouns stand on each other in one order': {
    files: {
      'src/access/keys/service.ts': "import type { a } from '../origins/service.ts';",
      'src/access/origins/service.ts': "\nimport type { b } from '../projects/service.ts';",
      'src/access/origins/routes.ts': "import { c } from '../keys/service.ts';",
      'src/access/projects/schemas.ts': "\n\nimport type { d } from '../keys/service.ts';",
    },
    expected: ['src/access/projects/schemas.ts:3 '],
  },
  'districts stand on each other one way': {
    files: {
      'src/mail/emails/service.ts':
        "import type { a } from '../../access/keys/service.ts';\nimport { b } from '../../marketing/lists/service.ts';",
      'src/captcha/service.ts': "import { c } from '../secrets/vault/service.ts';",
      'src/access/keys/checks.ts':
        "import { d } from '../../platform/host/health-check.ts';\nimport { e } from '../../limits.ts';",
      'src/keys/service.ts': '',
    },
    expected: ['src/mail/emails/service.ts:2 ', 'src/keys/service.ts:1 '],
  },
  'Elysia stays at the edge': {
    files: {
      'src/access/keys/service.ts': "// Why.\nimport { t } from 'elysia';",
      'src/app/app.ts': "import { Elysia } from 'elysia';",
      'src/platform/http/body.ts': "import { Elysia } from 'elysia';",
      'src/platform/jobs/envelopes.ts': "import { swagger } from '@elysiajs/swagger';",
    },
    expected: ['src/access/keys/service.ts:2 ', 'src/platform/jobs/envelopes.ts:1 '],
  },
  'no file is dead': {
    files: {
      'src/main.ts': "import sql from './platform/migrations/0001_a.sql' with { type: 'text' };",
      'src/platform/migrations/0001_a.sql': 'SELECT 1;',
      'src/platform/migrations/0002_b.sql': 'SELECT 2;',
      'src/platform/mailer.worker.ts': "import './mime.ts';",
      'src/platform/mime.ts': "// import './old.ts';",
      'src/platform/old.ts': '',
      'src/console/page/main.tsx': "const load = () => import('./pages/keys/list.tsx');",
      'src/console/page/pages/keys/list.tsx': '',
      'src/console/page/pages/keys/old.tsx': '',
    },
    expected: [
      'src/platform/migrations/0002_b.sql:1 ',
      'src/platform/old.ts:1 ',
      'src/console/page/pages/keys/old.tsx:1 ',
    ],
  },
  'names are kebab-case and say something': {
    files: {
      'src/access/keys/originRules.ts': '',
      'src/access/keys/origin_rules.ts': '',
      'src/access/keys/origin-rules.ts': '',
      'src/access/keys/utils.ts': '',
      'src/access/Keys/service.ts': '',
      'src/access/keys/rules/origins.ts': '',
      'src/platform/database.ts': '',
      'src/platform/attic/database.ts': '',
      'src/platform/mail/smtp/pool.ts': '',
      'src/console/page/pages/keys/list.tsx': '',
      'src/console/page/pages/keys/KeyList.tsx': '',
      'src/platform/mail/mailer.worker.ts': '',
      'src/platform/database/migrations/0001_first_tables.sql': '',
    },
    expected: [
      'src/access/keys/originRules.ts:1 ',
      'src/access/keys/origin_rules.ts:1 ',
      'src/access/keys/utils.ts:1 ',
      'src/access/Keys/service.ts:1 ',
      'src/access/keys/rules/origins.ts:1 ',
      'src/platform/database.ts:1 ',
      'src/platform/attic/database.ts:1 ',
      'src/platform/mail/smtp/pool.ts:1 ',
      'src/console/page/pages/keys/KeyList.tsx:1 ',
    ],
  },
  'files stay small': {
    files: {
      'src/config.ts': `${'\n'.repeat(MAX_SRC_LINES)}//\n`,
      'src/errors.ts': '//\n'.repeat(MAX_SRC_LINES),
      'test/errors.test.ts': '//\n'.repeat(MAX_TEST_LINES),
      'test/limits.test.ts': '//\n'.repeat(MAX_TEST_LINES + 1),
    },
    expected: ['src/config.ts:501 ', 'test/limits.test.ts:801 '],
  },
  'no file is for one sentence': {
    files: {
      'src/access/keys/service.ts': `${HEAD}${'a();\n'.repeat(MIN_CODE_LINES)}`,
      'src/access/keys/checks.ts': `${HEAD}${'a();\n\n// b\n'.repeat(MIN_CODE_LINES - 1)}`,
      'src/access/keys/tables.ts': "import type { A } from './schemas.ts';\n",
      'src/access/keys/schemas.ts': 'a();\n',
      'src/access/keys/cli.ts': 'a();\n',
      'src/app/command-line.ts': `${"void import('../access/keys/cli.ts');\n".repeat(MIN_CODE_LINES)}`,
      'src/console/page/theme.ts': 'a();\n',
      'src/main.ts': 'a();\n',
      'test/a.test.ts': 'a();\n',
    },
    expected: ['src/access/keys/checks.ts:1 '],
  },
  'a file begins with what belongs in it': {
    files: {
      'src/errors.ts': "import 'x';\n",
      'src/limits.ts': HEAD,
      'scripts/a.ts': '#!/usr/bin/env bun\n// A.\n',
    },
    expected: ['src/errors.ts:1 '],
  },
  'only config.ts reads the environment': {
    files: {
      'src/config.ts': 'process.env.A;',
      'src/app.ts':
        "// process.env\nconst a = 'process.env';\nconst b = /\\/*process.env/;\nconst c = `$" +
        '{process.env.B}`;',
      'src/errors.ts': '/* a\n*/ Bun.env;',
    },
    expected: ['src/app.ts:4 ', 'src/errors.ts:2 '],
  },
  'only clock.ts knows the time': {
    files: {
      'src/platform/host/clock.ts': 'Date.now();',
      'src/app.ts': 'new Date(5).toISOString();\nnew Date();',
      'src/access/keys/service.ts': 'const now = Date.now;',
      'test/app.test.ts': 'Date.now();',
    },
    expected: ['src/app.ts:2 ', 'src/access/keys/service.ts:1 '],
  },
  'nothing is left to be done': {
    files: {
      'src/app.ts': 'a();\n// TODO: b\n',
      'src/errors.ts': '/* FIXME */',
      'test/a.test.ts': '// TODO',
    },
    expected: ['src/app.ts:2 ', 'src/errors.ts:1 '],
  },
  'SQL is written in two ways': {
    files: {
      'src/access/keys/store.ts':
        'tx.$client.query(text);\nread.get(sql`SELECT 1`);\ntx.set({ n: sql`n + 1` });',
      'src/platform/database/raw-sql.ts': 'tx.$client.query(text);',
    },
    expected: ['src/access/keys/store.ts:1 ', 'src/access/keys/store.ts:2 '],
  },
  'SQL names the tables of its own noun': {
    files: {
      'src/access/keys/tables.ts': "sqliteTable('api_keys', {});",
      'src/access/keys/store.ts': "rawGet('SELECT 1 FROM api_keys JOIN jobs');",
      'src/files/objects/store.ts': "// FROM api_keys\nrawGet('UPDATE api_keys SET x = 1');",
      'src/platform/database/tables.ts': "sqliteTable('jobs', {});",
      'src/platform/jobs/store.ts': "rawGet('SELECT 1 FROM jobs');",
      'src/operation/doctor/store.ts': "rawGet('SELECT 1 FROM api_keys');",
    },
    expected: ['src/access/keys/store.ts:1 ', 'src/files/objects/store.ts:2 '],
  },
  'no type is any': {
    files: {
      'src/app.ts': "const a: any = 1;\n// any\nconst b = 'any';\nPromise.any([]);\nconst company = 1;",
      'src/errors.ts': '\nf(x as any);',
      'test/a.test.ts': 'const a: Map<string, any[]> = b;',
    },
    expected: ['src/app.ts:1 ', 'src/errors.ts:2 ', 'test/a.test.ts:1 '],
  },
  'a literal is written out, not spread into another': {
    files: {
      'src/app.ts':
        "const a = { ...{ b, c }, d };\nconst e = [...['f']];\nconst g = { ...h, ...(i ? { j } : {}) };\nconst k = [...(['l'] as const)];\n// ...{ k }",
      'test/a.test.ts': 'const a = { ...{ b } };',
    },
    expected: ['src/app.ts:1 ', 'src/app.ts:2 ', 'src/app.ts:4 '],
  },
  'the type checker is not silenced': {
    files: { 'src/app.ts': '\n// @ts-ignore\n', 'test/a.test.ts': '// @ts-nocheck' },
    expected: ['src/app.ts:2 ', 'test/a.test.ts:1 '],
  },
  'a verb loads what it needs': {
    files: {
      'src/main.ts': "import { a } from './app/command-line.ts';",
      'src/app/command-line.ts':
        "import type { B } from './app.ts';\nimport { c } from './serve.ts';\nconst d = () => import('./verbs.ts');",
      'src/app/serve.ts': "import { e } from './app.ts';",
    },
    expected: ['src/app/command-line.ts:2 '],
  },
  'what is heavy is loaded when it is used': {
    files: {
      'src/operation/mcp/protocol.ts': "import { Server } from '@modelcontextprotocol/server';",
      'src/operation/mcp/cli.ts':
        "import type { A } from './protocol.ts';\nimport { b } from './protocol.ts';\nconst c = () => import('./protocol.ts');",
    },
    expected: ['src/operation/mcp/cli.ts:2 '],
  },
  'nothing exports another file whole': {
    files: { 'src/access/keys/service.ts': "\nexport * from './store.ts';" },
    expected: ['src/access/keys/service.ts:2 '],
  },
};

describe('the repository', () => {
  const sources = repository();

  test('is read at all', () => {
    expect(sources.map(({ path }) => path)).toContain('src/errors.ts');
    expect(sources.map(({ path }) => path)).toContain('test/tidy.test.ts');
  });

  // The rules read sources with regular expressions; Bun's own parser says whether those were right.
  test('is read as Bun reads it', () => {
    const bun = new Bun.Transpiler({ loader: 'ts' });
    for (const file of sources.filter(({ path }) => path.endsWith('.ts'))) {
      expect({ path: file.path, code: bun.transformSync(file.code) }).toEqual({
        path: file.path,
        code: bun.transformSync(file.text),
      });
      const seen = importsOf(file).map(({ specifier }) => specifier);
      const missed = bun.scanImports(file.text).filter(({ path }) => !seen.includes(path));
      expect({ path: file.path, missed }).toEqual({ path: file.path, missed: [] });
    }
  });

  for (const [name, rule] of Object.entries(RULES)) {
    test(name, () => {
      expect(rule(sources)).toEqual([]);
    });
  }
});

describe('a sample that breaks the rule is seen', () => {
  test('every rule has a sample', () => {
    expect(Object.keys(SAMPLES).sort()).toEqual(Object.keys(RULES).sort());
  });

  for (const [name, { files, expected }] of Object.entries(SAMPLES)) {
    test(name, () => {
      const complaints = RULES[name]?.(Object.entries(files).map(([path, text]) => source(path, text))) ?? [];
      const places = complaints.map((complaint) => complaint.replace(/(?<= ).*$/s, ''));
      expect(places.sort()).toEqual([...expected].sort());
    });
  }
});
