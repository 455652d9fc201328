import { printErr } from '@atenea/cli'
import { version } from './version.ts'

printErr(`atenea-probe ${version}\n`)
