import { tellHeapOnSignal } from '../servers/tell-heap.ts'

/* Loaded into a program of which the soak wants to know its heap, before the program itself. */
tellHeapOnSignal()
